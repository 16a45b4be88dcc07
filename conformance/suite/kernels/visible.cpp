// SPDX-License-Identifier: Apache-2.0
// Between CPU and kernels: what was stored, and published as the domain asks, is read by the launch that follows; what a
// launch wrote is there to be seen once its value has completed.
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/kernels/copy_kernel.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 64 << 10;

bool needs_flush(const Instance &device, uint32_t tier) {
    const hbf_domain_info *const domain = device.domain_of(tier);
    return domain && domain->protocol == HBF_PROTOCOL_SOFTWARE;
}

// The tail first: what is still on its way is there last.
void look(Context &context, const hbf_region_info &dst, uint64_t bytes, const kernels::PatternKey &key) {
    const auto *at = static_cast<const std::byte *>(dst.address);
    const char *const when = "read at once after the value of a launch had completed";
    expect_pattern(context, context.device(), dst, bytes - 64, at + bytes - 64, 64, key, bytes - 64, fault::early_completion,
                   when);
    expect_pattern(context, context.device(), dst, 0, at, bytes, key, 0, fault::early_completion, when);
}

void with_tier(Context &context, const CopyKernel &copy, uint32_t tier, uint64_t rounds) {
    Instance &device = context.device();
    Regions regions(device);
    ByteAccess access(device);
    const hbf_region_info src = regions.make(tier, size), dst = regions.make(tier, size);
    const Queue queue(device);
    Random random(context.seed() + tier);
    for (uint64_t round = 1; round <= rounds; ++round) {
        const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), static_cast<uint32_t>(round), false};
        const uint64_t bytes = 64 * random.between(1, size / 64);
        write_pattern(access, dst, 0, bytes, poison_of(key), 0);
        kernels::pattern_fill(src.address, bytes, key, 0);
        const Launch launch = copy.launch(dst.region, 0, src.region, 0, bytes);
        std::vector<hbf_command> commands = {launch.command()};
        if (needs_flush(device, tier)) {
            const hbf_command before[] = {flush_command(src.region, 0, bytes), barrier_command()};
            commands.insert(commands.begin(), std::begin(before), std::end(before));
        }
        const uint64_t value = device.must_submit(queue, commands);
        look_until([&] { return device.poll(queue).completed >= value; }, value);
        access.refresh(dst, 0, bytes);
        look(context, dst, bytes, key);
        device.must_complete(queue, value); // well, not failed
    }
}

HBF_CASE("kernels.launch.visible_after_completion", {.rules = {"HBF-KRN-5", "HBF-QUEUE-3"},
                                                     .kills = {"launch_completes_early", "launch_nothing", "flush_late",
                                                               "mi300x_invalidate_lost", "mi300x_write_back_lost"},
                                                     .needs = need::launch | need::cpu_tier,
                                                     .limit_s = 60}) {
    const CopyKernel copy(context);
    unsigned seen = 0;
    for (const uint32_t tier : kernel_tiers(context.device())) {
        if (!context.device().cpu_access(tier)) continue;
        with_tier(context, copy, tier, context.scaled(60, 1000, 20000));
        ++seen;
    }
    if (seen == 0) context.not_supported("no tier is reached by kernels and CPUs alike");
}

} // namespace
} // namespace hbf::conformance
