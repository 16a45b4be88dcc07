// SPDX-License-Identifier: Apache-2.0
// Message passing between the CPU and the copy engine: payload, then the signal, both ways. In a software domain flush and
// invalidate stand between, and what happens without them is the control; in a hardware domain nothing has to.
#include <array>

#include "conformance/suite/coherence/scene.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

constexpr uint64_t slots = 32;

// A region of the tier under test and one of another, in slots whose generation is known, the same in both.
class Stage {
public:
    Stage(Context &context, const Instance &on, uint32_t where)
        : device(on), tier(where), is_software(software(on, where)), slot_size(std::max<uint64_t>(1024, granule(on, where))),
          regions(on), access(on), shared(regions.make(where, slots * slot_size, slot_size)),
          far(regions.make(observer_tier(on, where), slots * slot_size)), first(on, 0, batch_room(on, 3)),
          second(on, 0, batch_room(on, 3)), random(context.seed() + where) {
        bytes.resize(slots * slot_size);
        put_generation(bytes.data(), bytes.size(), 1, 0);
        access.write(shared, 0, bytes);
        access.write(far, 0, bytes);
        access.refresh(shared, 0, shared.size);
        generations.fill(1);
    }

    uint64_t pick() { return random.below(slots); }
    uint64_t offset(uint64_t slot) const { return slot * slot_size; }
    hbf_command to_far(uint64_t slot) const {
        return copy_command(far.region, offset(slot), shared.region, offset(slot), slot_size);
    }
    hbf_command to_shared(uint64_t slot) const {
        return copy_command(shared.region, offset(slot), far.region, offset(slot), slot_size);
    }
    hbf_command flush(uint64_t slot) const { return flush_command(shared.region, offset(slot), slot_size); }
    hbf_command invalidate(uint64_t slot) const { return invalidate_command(shared.region, offset(slot), slot_size); }

    // CPU stores of a new generation, in the slot's own bytes.
    void store(uint64_t slot) { put_generation(at(shared, offset(slot)), slot_size, ++generations[slot], offset(slot)); }
    Look far_now(uint64_t slot) {
        bytes = access.read(far, offset(slot), slot_size);
        return look(bytes.data(), slot_size, generations[slot], offset(slot));
    }
    Look shared_now(uint64_t slot) const { // a plain load, with nothing before it
        return look(at(shared, offset(slot)), slot_size, generations[slot], offset(slot));
    }
    // The commands after a first one whose value the second queue waits for: the order is the device's doing alone.
    void run_across(std::vector<hbf_command> before, std::vector<hbf_command> after) {
        const uint64_t value = device.must_submit(first, before);
        after.insert(after.begin(), wait_command(first, value));
        device.must_run(second, after);
    }

    const Instance &device;
    const uint32_t tier;
    const bool is_software;
    const uint64_t slot_size;
    Regions regions;
    ByteAccess access;
    const hbf_region_info shared, far;
    Queue first, second;
    Random random;
    std::array<uint64_t, slots> generations{};
    std::vector<std::byte> bytes;
};

void cpu_to_engine(Context &context, Stage &stage, bool with_flush) {
    const uint64_t slot = stage.pick();
    stage.store(slot);
    if (!with_flush)
        stage.device.must_run(stage.second, {stage.to_far(slot)});
    else if (stage.random.below(2))
        stage.run_across({stage.flush(slot)}, {stage.to_far(slot)});
    else
        stage.device.must_run(stage.first, {stage.flush(slot), barrier_command(), stage.to_far(slot)});
    expect_generation(context, {&stage.device, &stage.shared, stage.offset(slot)}, stage.far_now(slot), fault::visibility,
                      fmt::format("the copy engine read {} after a CPU store{}", stage.device.tier(stage.tier).name,
                                  with_flush ? " and its flush" : ""));
}

void engine_to_cpu(Context &context, Stage &stage, bool with_invalidate) {
    const uint64_t slot = stage.pick();
    ++stage.generations[slot];
    std::vector<std::byte> bytes(stage.slot_size);
    put_generation(bytes.data(), bytes.size(), stage.generations[slot], stage.offset(slot));
    stage.access.write(stage.far, stage.offset(slot), bytes);
    static_cast<void>(stage.shared_now(slot)); // the old bytes are in this CPU's cache
    if (!with_invalidate)
        stage.device.must_run(stage.second, {stage.to_shared(slot)});
    else if (stage.random.below(2))
        stage.run_across({stage.to_shared(slot)}, {stage.invalidate(slot)});
    else
        stage.device.must_run(stage.first, {stage.to_shared(slot), barrier_command(), stage.invalidate(slot)});
    expect_generation(context, {&stage.device, &stage.shared, stage.offset(slot)}, stage.shared_now(slot), fault::visibility,
                      fmt::format("the CPU read {} after the copy engine wrote it{}", stage.device.tier(stage.tier).name,
                                  with_invalidate ? " and an invalidate" : ""));
}

// F1': the store without its flush. Then made good.
bool stale_without_flush(Stage &stage) {
    const uint64_t slot = stage.pick();
    stage.store(slot);
    stage.device.must_run(stage.second, {stage.to_far(slot)});
    const bool stale = stage.far_now(slot).stale > 0;
    stage.device.must_run(stage.first, {stage.flush(slot), barrier_command(), stage.to_far(slot)});
    return stale;
}

// F2': the engine's write without the invalidate.
bool stale_without_invalidate(Stage &stage) {
    const uint64_t slot = stage.pick();
    ++stage.generations[slot];
    std::vector<std::byte> bytes(stage.slot_size);
    put_generation(bytes.data(), bytes.size(), stage.generations[slot], stage.offset(slot));
    stage.access.write(stage.far, stage.offset(slot), bytes);
    static_cast<void>(stage.shared_now(slot));
    stage.device.must_run(stage.second, {stage.to_shared(slot)});
    const bool stale = stage.shared_now(slot).stale > 0;
    stage.device.must_run(stage.first, {stage.invalidate(slot)});
    return stale;
}

void pass_messages(Context &context, void (*message)(Context &, Stage &, bool), bool (*without)(Stage &),
                   const char *control) {
    const Instance &device = context.device();
    const std::vector<uint32_t> tiers = mapped_tiers(device);
    if (tiers.empty()) context.not_supported("no tier is in a coherence domain with the CPU");
    const uint64_t rounds = context.scaled(150, 5000, 100000);
    for (const uint32_t tier : tiers) {
        Stage stage(context, device, tier);
        Sightings sightings{control};
        for (uint64_t round = 0; round < rounds; ++round) {
            message(context, stage, stage.is_software);
            if (stage.is_software && round % 8 == 0) sightings.count(without(stage));
        }
        if (stage.is_software) require_seen(context, sightings);
        context.note(fmt::format("{}: {} messages{}", device.tier(tier).name, rounds,
                                 stage.is_software ? "" : ", without flush or invalidate: its domain is hardware"));
    }
}

} // namespace

HBF_CASE("coherence.message_passing.flush_then_signal", {.rules = {"HBF-COH-1", "HBF-COH-2"},
                                                         .kills = {"m09_flush_noop", "flush_late", "claims_hardware"},
                                                         .needs = need::cpu_tier | need::coherence}) {
    pass_messages(context, cpu_to_engine, stale_without_flush, "F1' (no flush before the copy engine reads)");
}

HBF_CASE("coherence.message_passing.invalidate_before_read",
         {.rules = {"HBF-COH-1", "HBF-COH-2"},
          .kills = {"m10_invalidate_noop", "invalidate_early", "claims_hardware"},
          .needs = need::cpu_tier | need::coherence}) {
    pass_messages(context, engine_to_cpu, stale_without_invalidate, "F2' (no invalidate before the CPU reads)");
}

} // namespace hbf::conformance
