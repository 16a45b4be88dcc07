// SPDX-License-Identifier: Apache-2.0
// Nothing beside the range changes: not in the region, at its very ends, and not in the regions around it.
#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t odd_size = (64 << 10) + 777; // ends inside a line, a page and a granule
constexpr uint64_t around = 4096;

struct Range {
    uint64_t offset, size;
};
constexpr Range inside[] = {{around, 1}, {around + 1, 62}, {around + 63, 2}, {around, 4096}, {around + 5, 40000}};

// Regions made before and after the destination: an engine that goes on past the end hits the next one.
void with_neighbours(Context &context, const Route &route) {
    Instance &device = context.device();
    ByteAccess access(device);
    Buffers buffers(device);
    const hbf_region_info low = buffers.make(route.to, odd_size);
    Pair pair(context, route, odd_size, odd_size);
    const hbf_region_info high = buffers.make(route.to, odd_size);
    Model below(access, low, "the region made before", route.to_name),
        above(access, high, "the region made after", route.to_name);
    below.load(context.seed(), 3);
    above.load(context.seed(), 4);

    for (const Range &range : inside)
        pair.run(context, {pair.destination.copy_from(range.offset, pair.source, range.offset, range.size)},
                 "copy, " + route.name());
    for (const Range &range : inside)
        pair.run(context, {pair.destination.fill(range.offset, range.size, 0xa5c3, 2)}, "fill in " + route.to_name);

    pair.run(context, {pair.destination.copy_from(0, pair.source, odd_size - 1000, 1000)}, "at the start, " + route.name());
    pair.run(context, {pair.destination.copy_from(odd_size - 1000, pair.source, 0, 1000)}, "at the end, " + route.name());
    pair.run(context, {pair.destination.copy_from(0, pair.source, 0, odd_size)}, "the whole region, " + route.name());
    pair.run(context, {pair.destination.fill(0, odd_size, 0x1122334455667788, 8)}, "the whole region in " + route.to_name);
    below.verify(context, "after commands up to the ends of the region beside it");
    above.verify(context, "after commands up to the ends of the region beside it");
}

HBF_CASE("dma.copy.guard_bytes_untouched",
         {.rules = {"HBF-DMA-2"},
          .kills = {"m18_writes_guard_byte", "guard_byte_before", "guard_byte_of_fill", "neighbour_region_written",
                    "neighbour_region_before", "source_changed", "a100_writes_beside"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    for (const Route &route : routes_both(device)) with_neighbours(context, route);
    for (const Route &route : routes_within(device)) with_neighbours(context, route);
}

} // namespace
} // namespace hbf::conformance
