// SPDX-License-Identifier: Apache-2.0
// Down to a colder tier and back: what returns is what went, and not what was there before it.
#include "conformance/suite/dma/model.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 256 << 10, granule = 64 << 10;

// The same places again and again, each time with another generation of bytes.
void there_and_back(Context &context, uint32_t hot, uint32_t cold) {
    Instance &device = context.device();
    ByteAccess access(device);
    Regions regions(device);
    const Queue queue(device, 0, commands_of(device, 4));
    const hbf_region_info from = regions.make(hot, size), to = regions.make(cold, size);
    const std::string hot_name = device.tier(hot).name, cold_name = device.tier(cold).name;
    Model model(access, from, hot_name, hot_name), store(access, to, cold_name, cold_name);
    store.load(context.seed(), 1000);
    const uint64_t rounds = context.scaled(6, 60, 600);
    for (uint32_t generation = 1; generation <= rounds; ++generation) {
        model.load(context.seed(), generation);
        std::vector<hbf_command> down, up;
        for (uint64_t at = 0; at < size; at += granule) down.push_back(store.copy_from(at, model, at, granule));
        run_batches(device, queue, down, commands_of(device, 4));
        model.load(context.seed(), generation + 500); // others use the hot place meanwhile
        for (uint64_t at = 0; at < size; at += granule) up.push_back(model.copy_from(at, store, at, granule));
        run_batches(device, queue, up, commands_of(device, 4));
        const std::string when = fmt::format("generation {}, {} to {} and back", generation, hot_name, cold_name);
        model.verify(context, when);
        store.verify(context, when);
        model.forget_writes();
        store.forget_writes();
    }
}

HBF_CASE("tier.evict.restore_is_identical",
         {.rules = {"HBF-DMA-2", "HBF-QUEUE-2"},
          .kills = {"m26_stale_generation", "restore_changes_its_store", "restore_is_stale"},
          .needs = need::cpu_tier | need::two_tiers,
          .masked = true}) {
    Instance &device = context.device();
    for (const uint32_t hot : device.dma_tiers())
        for (const uint32_t cold : device.dma_tiers())
            if (hot != cold && device.cpu_access(hot)) there_and_back(context, hot, cold);
}

} // namespace
} // namespace hbf::conformance
