// SPDX-License-Identifier: Apache-2.0
// Flush and invalidate cover the range that was named, widened to whole units of the domain, wherever its ends lie.
#include "conformance/suite/coherence/scene.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

constexpr uint64_t units = 16; // of a slot

struct Part {
    uint64_t begin = 0, size = 0;
};

// Ends anywhere: inside the first unit, on an edge, one byte off it.
Part draw_part(Random &random, uint64_t unit) {
    const auto end = [&](uint64_t near) {
        switch (random.below(3)) {
        case 0:
            return near * unit;
        case 1:
            return near * unit + 1;
        default:
            return near * unit + random.below(unit);
        }
    };
    const uint64_t first = random.below(units - 2), begin = end(first);
    const uint64_t limit = units * unit;
    uint64_t last = end(first + 1 + random.below(units - first - 1));
    if (random.below(4) == 0) last = begin + 1 + random.below(unit); // within one unit, or over one edge
    last = std::min(std::max(last, begin + 1), limit);
    return {begin, last - begin};
}

struct Slot {
    Slot(Context &context, const Instance &on, uint32_t where)
        : device(on), unit(granule(on, where)), size(units * unit), regions(on), access(on),
          shared(regions.make(where, size, std::max<uint64_t>(unit, 64))), far(regions.make(observer_tier(on, where), size)),
          queue(on), random(context.seed() + where) {
        reset(1);
    }
    // One generation everywhere, in the memory and in the CPU's view of it.
    void reset(uint64_t generation) {
        bytes.resize(size);
        put_generation(bytes.data(), size, generation, 0);
        access.write(shared, 0, bytes);
        access.write(far, 0, bytes);
        access.refresh(shared, 0, size);
    }
    Place place(const Part &part) const { return {&device, &shared, part.begin}; }

    const Instance &device;
    const uint64_t unit, size;
    Regions regions;
    ByteAccess access;
    const hbf_region_info shared, far;
    Queue queue;
    Random random;
    std::vector<std::byte> bytes;
};

void flush_covers(Context &context, Slot &slot, uint64_t generation) {
    const Part part = draw_part(slot.random, slot.unit);
    slot.reset(generation - 1);
    put_generation(at(slot.shared, part.begin), part.size, generation, part.begin);
    slot.device.must_run(slot.queue, {flush_command(slot.shared.region, part.begin, part.size)});
    slot.device.must_run(slot.queue, {copy_command(slot.far.region, 0, slot.shared.region, 0, slot.size)});
    slot.bytes = slot.access.read(slot.far, 0, slot.size);
    expect_generation(
        context, slot.place(part), look(slot.bytes.data() + part.begin, part.size, generation, part.begin),
        fault::visibility,
        fmt::format("flush of [{}, {}), unit {}, left stores in it behind", part.begin, part.begin + part.size, slot.unit));
}

void invalidate_covers(Context &context, Slot &slot, uint64_t generation) {
    const Part part = draw_part(slot.random, slot.unit);
    slot.reset(generation - 1);
    slot.bytes.resize(slot.size);
    put_generation(slot.bytes.data(), slot.size, generation, 0);
    slot.access.write(slot.far, 0, slot.bytes);
    static_cast<void>(look(at(slot.shared, 0), slot.size, generation, 0)); // into this CPU's cache
    slot.device.must_run(slot.queue, {copy_command(slot.shared.region, 0, slot.far.region, 0, slot.size)});
    slot.device.must_run(slot.queue, {invalidate_command(slot.shared.region, part.begin, part.size)});
    expect_generation(
        context, slot.place(part), look(at(slot.shared, part.begin), part.size, generation, part.begin), fault::visibility,
        fmt::format("invalidate of [{}, {}), unit {}, left old bytes in it", part.begin, part.begin + part.size, slot.unit));
}

void cover(Context &context, void (*once)(Context &, Slot &, uint64_t)) {
    const Instance &device = context.device();
    const uint64_t rounds = context.scaled(120, 4000, 50000);
    for (const uint32_t tier : mapped_tiers(device, HBF_PROTOCOL_SOFTWARE)) {
        Slot slot(context, device, tier);
        for (uint64_t round = 0; round < rounds; ++round) once(context, slot, 2 + round);
        context.note(fmt::format("{}: {} ranges, unit {} bytes", device.tier(tier).name, rounds, slot.unit));
    }
}

} // namespace

HBF_CASE("coherence.flush.covers_unaligned_edges", {.rules = {"HBF-COH-2"},
                                                    .kills = {"flush_short"},
                                                    .needs = need::cpu_tier | need::coherence | need::software_domain}) {
    cover(context, flush_covers);
}

HBF_CASE("coherence.invalidate.covers_unaligned_edges",
         {.rules = {"HBF-COH-2"},
          .kills = {"invalidate_short"},
          .needs = need::cpu_tier | need::coherence | need::software_domain}) {
    cover(context, invalidate_covers);
}

} // namespace hbf::conformance
