// SPDX-License-Identifier: Apache-2.0
// Message passing between the CPU and a kernel that runs before or after: stores, flush, launch; launch, completion,
// invalidate, loads. In a software domain what happens without flush and invalidate is the control; in a hardware domain
// nothing has to stand between.
#include <array>

#include "conformance/suite/coherence/kernel_agent.hpp"
#include "conformance/suite/coherence/scene.hpp"
#include "kernels/device/litmus_load.h"
#include "kernels/device/litmus_store.h"

namespace hbf::conformance {
namespace {

using namespace coherence;
namespace kernels = hbf::kernels::device;

constexpr uint64_t slots = 16;

// Where a kernel's results are looked at: in a hardware domain if kernels reach a tier in one.
uint32_t seen_tier(const Instance &device, uint32_t otherwise) {
    for (const uint32_t tier : shared_with_kernels(device))
        if (!software(device, tier)) return tier;
    return otherwise;
}

// A region that CPU and kernels share, in slots of a known generation, and one for what a kernel has seen of it.
class Stage {
public:
    Stage(Context &context, const Instance &on, uint32_t where, const KernelAgent &by)
        : device(on), kernel(by), tier(where), is_software(software(on, where)),
          slot_size(std::max<uint64_t>(2048, 4 * granule(on, where))), regions(on), access(on),
          shared(regions.make(where, slots * slot_size, std::max<uint64_t>(granule(on, where), 64))),
          seen(regions.make(seen_tier(on, where), slots * slot_size)), first(on, 0, batch_room(on, 3)),
          second(on, 0, batch_room(on, 3)), random(context.seed() + where) {
        std::vector<std::byte> bytes(slots * slot_size);
        put_generation(bytes.data(), bytes.size(), 1, 0);
        access.write(shared, 0, bytes);
        access.refresh(shared, 0, shared.size);
        generations.fill(1);
    }

    // Part of a slot: its ends lie anywhere, but in other units than those beside it.
    struct Part {
        uint64_t slot, begin, size; // begin: in the region
    };
    Part pick() {
        const uint64_t slot = random.below(slots), begin = random.below(slot_size);
        return {slot, slot * slot_size + begin, random.between(1, slot_size - begin)};
    }
    Place place(const Part &part) const { return {&device, &shared, part.begin}; }
    hbf_command flush(const Part &part) const { return flush_command(shared.region, part.begin, part.size); }
    hbf_command invalidate(const Part &part) const { return invalidate_command(shared.region, part.begin, part.size); }

    void cpu_stores(const Part &part) {
        put_generation(at(shared, part.begin), part.size, ++generations[part.slot], part.begin);
    }
    Look cpu_loads(const Part &part) const { // with nothing before it
        return look(at(shared, part.begin), part.size, generations[part.slot], part.begin);
    }
    Launch kernel_stores(const Part &part) {
        const kernels::litmus_store_arguments arguments{part.begin, part.size, ++generations[part.slot], part.begin};
        return kernel.launch(arguments, {buffer_of(shared, HBF_KERNEL_WRITES)}, 2, kernel.group_size(16));
    }
    Launch kernel_loads(const Part &part) const {
        const kernels::litmus_load_arguments arguments{part.begin, part.size};
        return kernel.launch(arguments, {buffer_of(shared, HBF_KERNEL_READS), buffer_of(seen, HBF_KERNEL_WRITES)}, 2,
                             kernel.group_size(16));
    }
    Look kernel_saw(const Part &part) {
        const std::vector<std::byte> bytes = access.read(seen, part.begin, part.size);
        return look(bytes.data(), part.size, generations[part.slot], part.begin);
    }
    // One after the other: in one batch with a barrier, as two values of a queue, or of two queues with a wait between.
    void run_in_order(const hbf_command &before, const hbf_command &after) {
        switch (random.below(3)) {
        case 0:
            return device.must_run(first, {before, barrier_command(), after});
        case 1:
            static_cast<void>(device.must_submit(first, {before}));
            return device.must_run(first, {after});
        default:
            const uint64_t value = device.must_submit(first, {before});
            return device.must_run(second, {wait_command(first, value), after});
        }
    }

    const Instance &device;
    const KernelAgent &kernel;
    const uint32_t tier;
    const bool is_software;
    const uint64_t slot_size;
    Regions regions;
    ByteAccess access;
    const hbf_region_info shared, seen;
    Queue first, second;
    Random random;
    std::array<uint64_t, slots> generations{};
};

void cpu_to_kernel(Context &context, Stage &stage) {
    const Stage::Part part = stage.pick();
    stage.cpu_stores(part);
    Launch loads = stage.kernel_loads(part);
    if (stage.is_software)
        stage.run_in_order(stage.flush(part), loads.command());
    else
        stage.device.must_run(stage.second, {loads.command()});
    expect_generation(context, stage.place(part), stage.kernel_saw(part), fault::visibility,
                      fmt::format("a kernel loaded {} bytes of {} after a CPU's stores{}", part.size,
                                  stage.device.tier(stage.tier).name, stage.is_software ? " and their flush" : ""));
}

void kernel_to_cpu(Context &context, Stage &stage) {
    const Stage::Part part = stage.pick();
    static_cast<void>(stage.cpu_loads(part)); // the old bytes are in this CPU's cache
    Launch stores = stage.kernel_stores(part);
    if (stage.is_software)
        stage.run_in_order(stores.command(), stage.invalidate(part));
    else
        stage.device.must_run(stage.second, {stores.command()});
    expect_generation(context, stage.place(part), stage.cpu_loads(part), fault::visibility,
                      fmt::format("the CPU loaded {} bytes of {} after a kernel had stored them{}", part.size,
                                  stage.device.tier(stage.tier).name, stage.is_software ? " and an invalidate" : ""));
}

// F1' and F2': without. Then made good.
bool stale_without_flush(Stage &stage) {
    const Stage::Part part = stage.pick();
    stage.cpu_stores(part);
    Launch loads = stage.kernel_loads(part);
    stage.device.must_run(stage.second, {loads.command()});
    const bool stale = stage.kernel_saw(part).wrong > 0;
    stage.device.must_run(stage.first, {stage.flush(part)});
    return stale;
}
bool stale_without_invalidate(Stage &stage) {
    const Stage::Part part = stage.pick();
    static_cast<void>(stage.cpu_loads(part));
    Launch stores = stage.kernel_stores(part);
    stage.device.must_run(stage.second, {stores.command()});
    const bool stale = stage.cpu_loads(part).wrong > 0;
    stage.device.must_run(stage.first, {stage.invalidate(part)});
    return stale;
}

void pass_messages(Context &context, const char *kernel, void (*message)(Context &, Stage &), bool (*without)(Stage &),
                   const char *control) {
    const Instance &device = context.device();
    const KernelAgent agent(context, device, kernel);
    const std::vector<uint32_t> tiers = shared_with_kernels(device);
    if (tiers.empty()) context.not_supported("no tier is in a coherence domain with both CPU and kernels");
    const uint64_t rounds = context.scaled(60, 3000, 60000);
    for (const uint32_t tier : tiers) {
        Stage stage(context, device, tier, agent);
        Sightings sightings{control};
        for (uint64_t round = 0; round < rounds; ++round) {
            message(context, stage);
            if (stage.is_software && round % 4 == 0) sightings.count(without(stage));
        }
        if (stage.is_software) require_seen(context, sightings);
        context.note(fmt::format("{}: {} messages{}", device.tier(tier).name, rounds,
                                 stage.is_software ? "" : ", without flush or invalidate: its domain is hardware"));
    }
}

} // namespace

HBF_CASE("coherence.kernel.loads_what_was_flushed", {.rules = {"HBF-COH-1", "HBF-COH-2"},
                                                     .kills = {"m09_flush_noop", "kernel_loads_behind", "claims_hardware"},
                                                     .needs = need::cpu_tier | need::coherence | need::launch}) {
    pass_messages(context, "litmus_load/1", cpu_to_kernel, stale_without_flush, "F1' (no flush before the kernel loads)");
}

HBF_CASE("coherence.kernel.stores_seen_after_invalidate",
         {.rules = {"HBF-COH-1", "HBF-COH-2", "HBF-QUEUE-3"},
          .kills = {"m10_invalidate_noop", "kernel_stores_late", "claims_hardware"},
          .needs = need::cpu_tier | need::coherence | need::launch}) {
    pass_messages(context, "litmus_store/1", kernel_to_cpu, stale_without_invalidate,
                  "F2' (no invalidate before the CPU loads)");
}

} // namespace hbf::conformance
