// SPDX-License-Identifier: Apache-2.0
// Copies that stay in their tier, and copies that lie on themselves.
#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 256 << 10;

// There and back between two regions, so that a plugin that takes source and destination for each other changes what must
// stay; then to the adjoining range of the same region, which is the nearest that is no overlap.
HBF_CASE("dma.copy.d2d.same_tier",
         {.rules = {"HBF-DMA-2"},
          .kills = {"m04_src_dst_swapped", "submit_denied", "region_one_byte_short", "region_unmapped", "wait_denied",
                    "poll_behind_wait", "poll_tells_failure", "a100_copies_the_wrong_way", "a100_ecc_unsaid",
                    "a100_never_completes", "cnrt_device_lost", "cnrt_failure_unsaid", "cuda_device_lost", "mlu370_flips",
                    "mlu370_reads_beside", "mlu370_tail_dropped"}}) {
    for (const Route &route : routes_within(context.device())) {
        Pair pair(context, route, region_size, region_size);
        for (const uint64_t size : {1u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 16384u, 65537u}) {
            pair.run(context, {pair.destination.copy_from(1000, pair.source, 3000, size)},
                     "between regions of " + route.to_name);
            pair.run(context, {pair.source.copy_from(70000, pair.destination, 1000, size)}, "back, in " + route.to_name);
            pair.run(context, {pair.source.copy_from(100 + size, pair.source, 100, size)},
                     "to the adjoining range in " + route.to_name);
        }
    }
}

HBF_CASE("dma.copy.overlap_defined_or_rejected",
         {.rules = {"HBF-DMA-3"}, .kills = {"m16_overlap_as_memcpy", "adjoining_refused", "refused_as_internal"}}) {
    Instance &device = context.device();
    for (const Route &route : routes_within(device)) {
        Pair pair(context, route, region_size, 4096);
        const hbf_region region = pair.from.region;
        for (const uint64_t size : {1u, 64u, 4096u, 65536u, 100001u}) {
            for (const uint64_t shift : {uint64_t{0}, uint64_t{1}, uint64_t{63}, size / 2, size - 1}) {
                if (shift >= size) continue;
                for (const bool forward : {true, false}) {
                    const uint64_t low = 1000, high = low + shift;
                    uint64_t value = 0;
                    const Call call = device.submit(
                        pair.queue, {copy_command(region, forward ? high : low, region, forward ? low : high, size)}, value);
                    context.check_status(call, HBF_INVALID,
                                         fmt::format("a copy of {} bytes in {} onto itself, {} bytes {}", size,
                                                     route.to_name, shift, forward ? "up" : "down"));
                }
            }
            pair.run(context, {pair.source.copy_from(1000, pair.source, 1000 + size, size)},
                     fmt::format("after refused overlaps, down to the adjoining range in {}", route.to_name));
        }
    }
}

} // namespace
} // namespace hbf::conformance
