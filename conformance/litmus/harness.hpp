// SPDX-License-Identifier: Apache-2.0
// Runs a shape: threads that meet, run their agent's steps on the words of an instance, and go on to the next.
//
// The words of an instance are its own, and so is every value stored to them, so that a value read tells who stored it; a
// batch of instances is set up by one thread, run by all, and counted by one. The calling thread is the first agent.
#pragma once

#include <memory>

#include "conformance/litmus/runner.hpp"

namespace hbf::litmus {

class Harness final : public Runner {
public:
    // Threads for shapes of up to `agents` agents on the calling thread's CPUs. The arena's memory outlives the harness.
    Harness(unsigned agents, Arena arena, uint64_t seed);
    ~Harness() override; // the calling thread gets its CPUs back

    // A batch that agents cannot finish because they get no CPU is cut short. The shape has as many agents as the harness,
    // or fewer.
    Slice run(const Shape &shape, const Config &config, double seconds) override;

    unsigned cpus() const override;
    unsigned ranges() const override;

private:
    class Crew;
    std::unique_ptr<Crew> crew_;
};

} // namespace hbf::litmus
