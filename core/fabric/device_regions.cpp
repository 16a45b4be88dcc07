// SPDX-License-Identifier: Apache-2.0
// Making and freeing regions. A slot is taken before the plugin is asked, so that nothing can fail once it has answered.
#include <fmt/format.h>

#include "core/fabric/device_core.hpp"
#include "core/fabric/tables.hpp"

namespace hbf::fabric {
namespace {

struct SlotDraft {
    RegionSlots &slots;
    uint32_t index;
    bool used = false;
    ~SlotDraft() {
        if (!used) slots.give_back(index);
    }
};

} // namespace

RegionInfo DeviceCore::publish(uint32_t index, const hbf_region_info &info, uint32_t tier, std::string &title,
                               bool spilled) {
    RegionSlot &slot = regions.at(index);
    const bool registered = tier == HBF_TIER_NONE;
    const TierInfo *facts = registered ? nullptr : &tiers[tier];
    slot.handle = info.region;
    slot.size = info.size;
    slot.address = static_cast<std::byte *>(info.address);
    slot.tier = tier;
    slot.software = facts && facts->cpu_access && facts->domain && !domains[*facts->domain].hardware;
    slot.kernel_access = registered || facts->device_access;
    slot.info =
        RegionInfo{{number, index, regions.next_generation(index)}, tier, info.size, info.page_size, slot.address, spilled};
    slot.name.swap(title);
    regions.publish(index);
    return slot.info;
}

Result<RegionInfo> DeviceCore::allocate(uint32_t tier, uint64_t size, const AllocateOptions &options) {
    if (tier >= tiers.size())
        return fail(Code::invalid, fmt::format("{} has no tier {}: it has {}", label(), tier, tiers.size()));
    if (size == 0) return fail(Code::invalid, fmt::format("{}: a region of 0 bytes in {}", label(), tiers[tier].name));
    if (options.open_existing && options.name.empty())
        return fail(Code::invalid, fmt::format("{}: open_existing needs the name of a region", label()));
    if (!options.name.empty() && !tiers[tier].persistent)
        return fail(Code::unsupported, fmt::format("{}: tier {} keeps no named regions", label(), tiers[tier].name));

    SlotDraft draft{regions, regions.take()};
    std::string who = fmt::format("region {}.{} ", draft.index, regions.next_generation(draft.index));
    if (!options.name.empty()) who = fmt::format("region '{}' ", options.name);

    size_t hops = 0; // tiers that were full
    for (uint32_t target = tier;;) {
        const hbf_alloc_desc desc{sizeof(desc),
                                  target,
                                  size,
                                  options.alignment,
                                  static_cast<hbf_pages>(options.pages),
                                  options.open_existing ? HBF_ALLOC_OPEN_EXISTING : 0,
                                  {options.name.data(), options.name.size()}};
        std::string title = who + fmt::format("in {} of {}", tiers[target].name, label());
        hbf_region_info info{};
        info.struct_size = sizeof(info);
        AbiError error;
        const hbf_status status = tier_ext->alloc(instance, &desc, &info, error.out());
        if (status == HBF_OK) {
            if (info.region == 0 || info.size < size) {
                AbiError ignored;
                if (info.region != 0) tier_ext->free(instance, info.region, ignored.out());
                return fail(Code::internal, fmt::format("{}: alloc in {} reports success with region {} of {} bytes",
                                                        label(), tiers[target].name, info.region, info.size));
            }
            draft.used = true;
            return publish(draft.index, info, target, title, hops != 0);
        }
        const auto next = tiers[target].extended_by;
        if (status != HBF_EXHAUSTED || !options.spill || !next || *next >= tiers.size() || ++hops == tiers.size())
            return tl::unexpected(
                error.to_error(status, fmt::format("{}: {} bytes in {}", label(), size, tiers[target].name)));
        target = *next;
    }
}

Result<RegionInfo> DeviceCore::register_host(std::span<std::byte> memory) {
    if (memory.empty()) return fail(Code::invalid, fmt::format("{}: no memory to register", label()));
    if (!can_register()) return fail(Code::unsupported, fmt::format("{} cannot register host memory", label()));
    SlotDraft draft{regions, regions.take()};
    std::string title =
        fmt::format("region {}.{} in registered memory of {}", draft.index, regions.next_generation(draft.index), label());
    hbf_region_info info{};
    info.struct_size = sizeof(info);
    AbiError error;
    const hbf_status status = tier_ext->register_host(instance, memory.data(), memory.size(), &info, error.out());
    if (status != HBF_OK)
        return tl::unexpected(error.to_error(status, fmt::format("{}: registering {} bytes", label(), memory.size())));
    draft.used = true;
    info.address = memory.data();
    info.size = memory.size();
    return publish(draft.index, info, HBF_TIER_NONE, title, false);
}

Result<> DeviceCore::free(Region region) {
    if (region.device != number) return fail(Code::invalid, fmt::format("the region is not of {}", label()));
    switch (regions.close(region.slot, region.generation)) {
    case Code::ok:
        break;
    case Code::busy: {
        const RegionSlot &slot = regions.at(region.slot);
        return fail(Code::busy, fmt::format("{} is named by work in flight", slot.name));
    }
    default:
        return fail(Code::invalid,
                    fmt::format("region {}.{} of {} is not there: freed already?", region.slot, region.generation, label()));
    }
    RegionSlot &slot = regions.at(region.slot);
    if (auto done = drop_peers(slot); !done) {
        regions.reopen(region.slot);
        return done;
    }
    AbiError error;
    const hbf_status status = tier_ext->free(instance, slot.handle, error.out());
    if (status == HBF_OK) {
        regions.give_back(region.slot);
        return {};
    }
    regions.reopen(region.slot);
    return tl::unexpected(error.to_error(status, slot.name));
}

Result<hbf_region> DeviceCore::peer_handle(RegionSlot &foreign) {
    for (PeerRegistration *peer = foreign.peers.load(std::memory_order_acquire); peer != nullptr; peer = peer->next)
        if (peer->device_number == number) return peer->region;
    if (!can_register()) return fail(Code::unsupported, fmt::format("{} cannot register host memory", label()));

    static std::mutex mutex; // rare: once per region and device
    std::lock_guard lock(mutex);
    for (PeerRegistration *peer = foreign.peers.load(std::memory_order_acquire); peer != nullptr; peer = peer->next)
        if (peer->device_number == number) return peer->region;
    auto peer = std::make_unique<PeerRegistration>();
    hbf_region_info info{};
    info.struct_size = sizeof(info);
    AbiError error;
    const hbf_status status = tier_ext->register_host(instance, foreign.address, foreign.size, &info, error.out());
    if (status != HBF_OK)
        return tl::unexpected(error.to_error(status, fmt::format("{}: registering {}", label(), foreign.name)));
    peer->device = weak_from_this();
    peer->device_number = number;
    peer->region = info.region;
    peer->next = foreign.peers.load(std::memory_order_relaxed);
    foreign.peers.store(peer.get(), std::memory_order_release);
    return peer.release()->region;
}

Result<> DeviceCore::drop_peers(RegionSlot &slot) {
    while (PeerRegistration *peer = slot.peers.load(std::memory_order_acquire)) {
        if (auto device = peer->device.lock()) {
            AbiError error;
            const hbf_status status = device->tier_ext->free(device->instance, peer->region, error.out());
            if (status != HBF_OK)
                return tl::unexpected(
                    error.to_error(status, fmt::format("{}: its registration at {}", slot.name, device->label())));
        }
        slot.peers.store(peer->next, std::memory_order_release);
        delete peer;
    }
    return {};
}

} // namespace hbf::fabric
