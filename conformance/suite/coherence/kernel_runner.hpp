// SPDX-License-Identifier: Apache-2.0
// Litmus shapes whose agents are groups of a kernel: all of them, or all but one, which is a thread of this process.
#pragma once

#include <memory>
#include <string_view>

#include "conformance/litmus/crew.hpp"
#include "conformance/litmus/runner.hpp"
#include "conformance/suite/coherence/kernel_agent.hpp"
#include "conformance/suite/coherence/scene.hpp"

namespace hbf::conformance::coherence {

// Which of a shape's agents the kernel is. `host`: the one that it is not.
struct Roles {
    unsigned first = 0, acting = 2; // agents first ... first + acting - 1
    bool with_host = false;
    unsigned host = 0;
};

class KernelRunner final : public litmus::Runner {
public:
    KernelRunner(Context &context, const Instance &device, const KernelAgent &kernel, uint32_t tier, const Roles &roles);

    // Ends the case as not observable where the kernel's build lacks an order or a scope.
    litmus::Slice run(const litmus::Shape &shape, const litmus::Config &config, double seconds) override;
    unsigned cpus() const override { return 1; }
    unsigned ranges() const override { return 1; }
    Place find(uint64_t address) const;             // of a dump
    uint64_t given_up() const { return given_up_; } // batches in which an agent waited in vain

private:
    struct Run; // one batch
    void launch(Run &run);
    void fit(double seconds, bool given_up); // what the next batch is like
    void act(Run &run);                      // the host's agent
    uint32_t took_part(const Run &run, const std::vector<std::byte> &results);
    std::byte *meeting() const { return at(meeting_, 0); }

    Context &context_;
    const Instance &device_;
    const KernelAgent &kernel_;
    const Roles roles_;
    Regions regions_;
    const hbf_region_info words_, meeting_, results_;
    ByteAccess access_;
    Queue queue_;
    std::vector<std::byte> image_; // of the words, where this process takes no part
    litmus::Arena arena_;
    std::vector<uint64_t> host_results_;
    std::unique_ptr<litmus::Threads> threads_; // this one acts, the other waits for the launch
    uint64_t serial_;
    uint32_t spins_; // of a batch: fits the machine and its load as they are found to be
    uint64_t given_up_ = 0;
};

// The shape of this name and its controls, in every tier where these roles can be played, for the case's time.
void run_kernel_shape(Context &context, std::string_view name, const Roles &roles);

// Ends the case as not observable where fewer groups than agents are known to run at the same time.
void need_groups(Context &context, const KernelAgent &kernel, unsigned groups, std::string_view for_what);
// And where a kernel that CPUs run leaves this process none.
void need_cpu_beside_kernel(Context &context);

} // namespace hbf::conformance::coherence
