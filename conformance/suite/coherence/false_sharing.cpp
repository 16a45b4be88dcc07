// SPDX-License-Identifier: Apache-2.0
// Two agents own neighbouring bytes: the CPU stores into its own while the copy engine writes beside them, and neither loses
// anything. Where the domain is hardware the bytes may lie in one line; in a software domain a unit's distance is due.
#include <array>

#include "conformance/litmus/crew.hpp"
#include "conformance/litmus/granule.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

// Three parts in a row: the CPU's, the engine's, the CPU's. In a hardware domain their edges lie anywhere.
struct Parts {
    uint64_t begin, end; // of the engine's
};

struct Neighbours {
    Neighbours(Context &context, const Instance &on, uint32_t where)
        : device(on), tier(where), is_software(software(on, where)), unit(granule(on, where)),
          size(8 * std::max<uint64_t>(unit, 64)), regions(on), access(on),
          shared(regions.make(where, size, std::max<uint64_t>(unit, 64))),
          source(regions.make(observer_tier(on, where), size)), queue(on, 0, batch_room(on, 2)),
          random(context.seed() + where) {}

    Parts draw() {
        if (is_software) {
            const uint64_t first = 1 + random.below(5);
            return {first * unit, (first + 1 + random.below(7 - first)) * unit};
        }
        const uint64_t begin = 1 + random.below(size - 2);
        return {begin, begin + 1 + random.below(std::min<uint64_t>(size - begin - 1, 200))};
    }
    Place place(uint64_t offset) const { return {&device, &shared, offset}; }

    const Instance &device;
    const uint32_t tier;
    const bool is_software;
    const uint64_t unit, size;
    Regions regions;
    ByteAccess access;
    const hbf_region_info shared, source;
    Queue queue;
    Random random;
    std::vector<std::byte> bytes;
};

void expect_all(Context &context, const Neighbours &set, const Parts &parts, const std::byte *bytes, uint64_t cpu,
                uint64_t engine, std::string_view view) {
    const std::string edges =
        fmt::format("[{}, {}) written by the copy engine, the rest by the CPU; as {} sees it", parts.begin, parts.end, view);
    // A neighbour that is neither old nor new was written by somebody who had no business there.
    const std::string_view other = set.is_software ? fault::lost_update : fault::guard;
    expect_generation(context, set.place(0), look(bytes, parts.begin, cpu, 0), other, "neighbours below " + edges,
                      fault::lost_update);
    expect_generation(context, set.place(parts.begin),
                      look(bytes + parts.begin, parts.end - parts.begin, engine, parts.begin), fault::wrong_value,
                      "the bytes of " + edges);
    expect_generation(context, set.place(parts.end), look(bytes + parts.end, set.size - parts.end, cpu, parts.end), other,
                      "neighbours above " + edges, fault::lost_update);
}

// CPU stores on both sides that nobody flushed yet when the engine writes between them; then flush of the CPU's, invalidate
// of the engine's, in either order.
void write_beside(Context &context, Neighbours &set, uint64_t generation) {
    const Parts parts = set.draw();
    set.bytes.resize(set.size);
    put_generation(set.bytes.data(), set.size, generation - 1, 0);
    set.access.write(set.shared, 0, set.bytes);
    set.access.refresh(set.shared, 0, set.size);
    put_generation(set.bytes.data(), set.size, generation, 0);
    set.access.write(set.source, 0, set.bytes);

    put_generation(at(set.shared, 0), parts.begin, generation, 0);
    put_generation(at(set.shared, parts.end), set.size - parts.end, generation, parts.end);
    set.device.must_run(
        set.queue, {copy_command(set.shared.region, parts.begin, set.source.region, parts.begin, parts.end - parts.begin)});
    if (set.is_software) {
        const hbf_command below = flush_command(set.shared.region, 0, parts.begin),
                          above = flush_command(set.shared.region, parts.end, set.size - parts.end),
                          between = invalidate_command(set.shared.region, parts.begin, parts.end - parts.begin);
        if (set.random.below(2)) {
            set.device.must_run(set.queue, {between});
            set.device.must_run(set.queue, {below, above});
        } else {
            set.device.must_run(set.queue, {below, above});
            set.device.must_run(set.queue, {between});
        }
    }
    expect_all(context, set, parts, at(set.shared, 0), generation, generation, "the CPU");
    set.device.must_run(set.queue, {copy_command(set.source.region, 0, set.shared.region, 0, set.size)});
    set.bytes = set.access.read(set.source, 0, set.size);
    expect_all(context, set, parts, set.bytes.data(), generation, generation, "the copy engine");
}

} // namespace

HBF_CASE("coherence.false_sharing.neighbour_bytes_kept",
         {.rules = {"HBF-COH-3", "HBF-DMA-2"},
          .kills = {"m09_flush_noop", "m10_invalidate_noop", "m18_writes_guard_byte", "claims_half_granule", "flush_wide",
                    "invalidate_wide"},
          .needs = need::cpu_tier | need::coherence}) {
    const Instance &device = context.device();
    const uint64_t rounds = context.scaled(100, 3000, 50000);
    for (const uint32_t tier : mapped_tiers(device)) {
        Neighbours set(context, device, tier);
        for (uint64_t round = 0; round < rounds; ++round) write_beside(context, set, 2 + round);
        context.note(fmt::format("{}: {} rounds, edges {}", device.tier(tier).name, rounds,
                                 set.is_software ? fmt::format("{} bytes apart", set.unit) : "anywhere in a line"));
    }
}

} // namespace hbf::conformance
