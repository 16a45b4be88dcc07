// SPDX-License-Identifier: Apache-2.0
// The kernel that copies against the engine that does.
#include "conformance/suite/dma/model.hpp"
#include "conformance/suite/kernels/copy_kernel.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 80 << 10;
constexpr uint64_t sizes[] = {1, 7, 8, 9, 63, 64, 65, 255, 1000, 4096, 4099, 65536 + 24};

void between(Context &context, const CopyKernel &copy, uint32_t from, uint32_t to) {
    Instance &device = context.device();
    const std::string from_name = device.tier(from).name, name = device.tier(to).name;
    Buffers buffers(device);
    ByteAccess access(device);
    const hbf_region_info src = buffers.make(from, region_size), launched = buffers.make(to, region_size),
                          copied = buffers.make(to, region_size);
    Model source(access, src, "the source in " + from_name, from_name);
    Model by_engine(access, copied, "what the engine copied to " + name, name);
    Model by_kernel(access, launched, "what the kernel copied to " + name, name);
    source.load(context.seed(), 1);
    by_engine.load(context.seed(), 2);
    by_kernel.load(context.seed(), 2);
    const Queue queue(device);
    Random random(context.seed() + to);
    for (const uint64_t size : sizes) {
        const uint64_t places = (region_size - size) / 8 + 1, at = 8 * random.below(places), of = 8 * random.below(places);
        const std::string when = fmt::format("{} bytes from {:#x} to {:#x}, {} to {}", size, of, at, from_name, name);
        device.must_run(queue, {by_engine.copy_from(at, source, of, size)});
        static_cast<void>(by_kernel.copy_from(at, source, of, size));
        const Launch launch = copy.launch(launched.region, at, src.region, of, size);
        device.must_run(queue, {launch.command()});
        by_engine.verify(context, when);
        by_kernel.verify(context, when);
        by_engine.forget_writes();
        by_kernel.forget_writes();
    }
    source.verify(context, "after launches that read it");
}

HBF_CASE("kernels.copy.same_as_engine",
         {.rules = {"HBF-KRN-3", "HBF-KRN-4"},
          .kills = {"engine_flips_beside_kernel", "kernels_reach_no_tier", "launch_nothing", "launch_offset_wrong",
                    "launch_arguments_of_before", "launch_buffers_swapped", "launch_keeps_tail", "launch_read_only_changed",
                    "cuda_launch_fails", "mi300x_launch_lost"},
          .needs = need::launch | need::cpu_tier,
          .limit_s = 60}) {
    const CopyKernel copy(context);
    const std::vector<uint32_t> tiers = kernel_tiers(context.device());
    for (const uint32_t from : tiers)
        for (const uint32_t to : tiers) between(context, copy, from, to);
}

} // namespace
} // namespace hbf::conformance
