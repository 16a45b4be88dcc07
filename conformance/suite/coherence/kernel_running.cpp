// SPDX-License-Identifier: Apache-2.0
// What a kernel stores into a hardware domain is seen while it runs: not only by a launch's end, as memory is that is kept
// coherent at boundaries.
#include <algorithm>
#include <atomic>

#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/coherence/kernel_runner.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"
#include "kernels/device/litmus_shape.h"
#include "kernels/device/litmus_tear.h"

namespace hbf::conformance {
namespace {

using namespace coherence;
namespace kernels = hbf::kernels::device;

constexpr uint32_t words = 8;
constexpr uint64_t most_turns = 1u << 28;
// A kernel that ran so long and was not seen to store, so often, is not seen while it runs. How long is the number of its
// turns times what a turn takes at best: a launch may begin late, and its time is then not the kernel's.
constexpr double long_s = 0.25;
constexpr unsigned enough = 4;

class Watch {
public:
    Watch(Context &context, const Instance &device, const KernelAgent &kernel, uint32_t tier)
        : context_(context), device_(device), kernel_(kernel), regions_(device), words_(regions_.make(tier, 4096, 64)),
          result_(regions_.make(tier, 4096, 64)), access_(device), queue_(device), random_(context.seed() + tier) {}

    // Whether the first word was seen to change from one thing that the kernel had stored to another, before its end: what
    // a write-back leaves at the end does not change.
    bool run(uint32_t turns) {
        const std::atomic_ref<uint64_t> word(*reinterpret_cast<uint64_t *>(at(words_, 0)));
        for (uint32_t i = 0; i < words; ++i)
            std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(at(words_, uint64_t{8} * i))).store(0);
        const kernels::litmus_tear_arguments arguments{
            words, turns, 1, 0, HBF_LITMUS_SYSTEM, static_cast<uint32_t>(random_()) | 1u};
        Launch launch = kernel_.launch(
            arguments, {buffer_of(words_, HBF_KERNEL_READS | HBF_KERNEL_WRITES), buffer_of(result_, HBF_KERNEL_WRITES)}, 1,
            1);
        const auto begin = measure::Clock::now();
        const uint64_t value = device_.must_submit(queue_, {launch.command()});
        uint64_t first = 0;
        bool changed = false;
        while (device_.poll(queue_).completed < value && elapsed(begin) < patience_s(context_))
            for (unsigned look = 0; look < 64 && !changed; ++look) {
                const uint64_t seen = word.load(std::memory_order_relaxed);
                changed = first != 0 && seen != first;
                if (first == 0) first = seen;
            }
        device_.must_complete(queue_, value);
        lasted = elapsed(begin);
        last = word.load(std::memory_order_relaxed);
        kernels::litmus_tear_result result{};
        const std::vector<std::byte> bytes = access_.read(result_, 0, sizeof result);
        std::memcpy(&result, bytes.data(), sizeof result);
        if (result.lacks & HBF_LITMUS_NO_SCOPE)
            context_.not_observable("the kernel was built without a scope that takes in the host (OpenCL C 3.0: "
                                    "__opencl_c_atomic_scope_all_devices)");
        return changed;
    }
    Place place() const { return {&device_, &words_}; }
    double lasted = 0; // seconds, of the last run
    uint64_t last = 0; // what the first word held at its end

private:
    Context &context_;
    const Instance &device_;
    const KernelAgent &kernel_;
    Regions regions_;
    const hbf_region_info words_, result_;
    ByteAccess access_;
    Queue queue_;
    Random random_;
};

// Ever longer kernels, until one is seen or has run long enough to tell.
void watch_tier(Context &context, Watch &watch, const char *tier) {
    double turn_s = 1, ran_s = 0;
    unsigned unseen = 0;
    for (uint64_t turns = 1024; unseen < enough; turns = std::min(ran_s < long_s ? turns * 4 : turns, most_turns)) {
        const bool seen = watch.run(static_cast<uint32_t>(turns));
        expect(context, watch.last != 0, fault::not_written,
               "a kernel that stores into {} for {} turns had left nothing there at its end", tier, turns);
        turn_s = std::min(turn_s, watch.lasted / static_cast<double>(turns));
        ran_s = turn_s * static_cast<double>(turns);
        if (seen) {
            context.note(fmt::format("{}: stores seen of a kernel that ran for {:.3g} s", tier, ran_s));
            return;
        }
        if (ran_s >= long_s || turns == most_turns) ++unseen;
    }
    context.count_check();
    fail_at(
        fault::visibility, watch.place(),
        fmt::format("a kernel stored into {}, which is declared to be kept coherent by hardware between kernels and CPUs, "
                    "for {:.2f} s, {} times, and the host saw none of it before its end",
                    tier, ran_s, enough));
}

} // namespace

HBF_CASE("coherence.host_kernel.stores_seen_while_it_runs",
         {.rules = {"HBF-COH-1", "HBF-COH-4"},
          .kills = {"hip_fine_is_coarse"},
          .needs = need::cpu_tier | need::coherence | need::atomics | need::launch,
          .limit_s = 60}) {
    const Instance &device = context.device();
    const KernelAgent kernel(context, device, "litmus_tear/1");
    const std::vector<uint32_t> tiers = atomic_with_kernels(device);
    if (tiers.empty()) context.not_supported("no coherent tier declares 8-byte atomics between CPUs and kernels");
    need_cpu_beside_kernel(context);
    for (const uint32_t tier : tiers) {
        Watch watch(context, device, kernel, tier);
        watch_tier(context, watch, device.tier(tier).name);
    }
}

} // namespace hbf::conformance
