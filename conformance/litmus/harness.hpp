// SPDX-License-Identifier: Apache-2.0
// Runs a shape: threads that meet, run their agent's steps on the words of an instance, and go on to the next.
//
// The words of an instance are its own, and so is every value stored to them, so that a value read tells who stored it; a
// batch of instances is set up by one thread, run by all, and counted by one. The calling thread is the first agent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/litmus/arena.hpp"
#include "conformance/litmus/histogram.hpp"

namespace hbf::litmus {

// All there is to know of one instance that broke its contract.
struct Dump {
    std::string outcome, config;
    uint64_t batch = 0;
    uint32_t instance = 0;
    uint64_t tag = 0; // stored values are this | 1, 2, ...; the words began as this
    std::vector<uint64_t> registers, finals, addresses;
};

struct Slice {
    Histogram histogram;
    uint64_t batches = 0;
    double seconds = 0;
    std::vector<Dump> dumps; // of the first violations
};

class Harness {
public:
    // Threads for shapes of up to `agents` agents on the calling thread's CPUs. The arena's memory outlives the harness.
    Harness(unsigned agents, Arena arena, uint64_t seed);
    ~Harness(); // the calling thread gets its CPUs back
    Harness(const Harness &) = delete;
    Harness &operator=(const Harness &) = delete;

    // At least one batch, then until `seconds` have passed. A batch that agents cannot finish because they get no CPU is
    // cut short: what all of them ran counts. The shape has as many agents as the harness, or fewer.
    Slice run(const Shape &shape, const Config &config, double seconds);

    unsigned cpus() const;
    const Arena &arena() const;

private:
    class Crew;
    std::unique_ptr<Crew> crew_;
};

} // namespace hbf::litmus
