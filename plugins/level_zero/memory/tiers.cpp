// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/memory/tiers.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"
#include "plugins/level_zero/errors.hpp"

namespace hbf::level_zero {
namespace {

constexpr uint64_t granule = 65536, line = 64, most_alignment = 2 << 20;

uint64_t share(uint64_t bytes, uint64_t sixtyfourths) {
    return std::max(bytes / 64 * sixtyfourths / granule * granule, granule);
}

} // namespace

Tiers::Tiers(Context &context, const Options &options, uint64_t host_bytes, int node, const sdk::Log &log)
    : context_(context), node_(node) {
    const DeviceFacts &facts = context.facts;
    const auto bytes = [](uint64_t wanted, uint64_t otherwise) { return wanted ? wanted : otherwise; };
    // How much is free only sysman tells, and only now: the driver says it when there is none left.
    tiers_.push_back({Sort::device, "device0", HBF_TIER_HBM, facts.integrated() ? HBF_MEDIA_DRAM : HBF_MEDIA_HBM, false,
                      HBF_TIER_NONE, bytes(options.device_bytes, share(facts.memory, facts.integrated() ? 24 : 60)),
                      facts.integrated() ? "memory that the device shares with this machine (zeMemAllocDevice)"
                                         : "the device's own memory (zeMemAllocDevice); the CPU does not see it"});
    if (facts.host_access & ze::access_rw) {
        const bool cpu = (facts.host_access & ze::access_concurrent) != 0;
        shares_ |= cpu;
        tiers_.front().extended_by = count();
        tiers_.push_back(
            {Sort::pinned, "pinned0", HBF_TIER_HBF, HBF_MEDIA_PINNED, cpu, HBF_TIER_NONE,
             bytes(options.pinned_bytes, share(host_bytes, 16)),
             cpu ? "HBF: pinned host memory (zeMemAllocHost), which copies and kernels reach over the bus"
                 : "HBF: pinned host memory (zeMemAllocHost); not for the CPU beside the device, which the driver "
                   "does not promise (ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT)"});
        if (!cpu) log.info(fmt::format("{}: {}", facts.name, tiers_.back().detail));
    } else {
        log.warning(fmt::format("{} reaches no host memory (hostAllocCapabilities {:#x}): there is no HBF tier of pinned "
                                "memory",
                                facts.name, facts.host_access));
        if (options.pinned_bytes) sdk::fail(HBF_UNSUPPORTED, "option pinned_bytes: the device reaches no host memory");
    }
    constexpr uint32_t concurrent = ze::access_rw | ze::access_concurrent;
    if ((facts.shared_access & concurrent) == concurrent) {
        shares_ = true;
        tiers_.push_back({Sort::shared, "shared0", HBF_TIER_HBF, HBF_MEDIA_UNKNOWN, true, HBF_TIER_NONE,
                          bytes(options.shared_bytes, share(std::min(facts.memory, host_bytes), 8)),
                          "shared memory (zeMemAllocShared): goes to whoever touches it, host or device"});
    } else {
        log.info(fmt::format("{}: no tier of shared memory, which host and device may not use side by side "
                             "(sharedSingleDeviceAllocCapabilities {:#x})",
                             facts.name, facts.shared_access));
        if (options.shared_bytes)
            sdk::fail(HBF_UNSUPPORTED, "option shared_bytes: host and device may not use shared memory side by side");
    }
    used_.resize(tiers_.size());
}

void Tiers::describe(uint32_t index, hbf_tier_info &out) {
    const Tier &tier = tiers_[index];
    out.kind = tier.kind;
    out.media = tier.media;
    out.reality = context_.facts.emulated() ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
    out.access = HBF_ACCESS_DEVICE | HBF_ACCESS_DMA | (tier.cpu ? HBF_ACCESS_CPU : 0);
    out.numa_node = tier.sort == Sort::device ? node_ : -1;
    out.coherence_domain = tier.cpu ? 0 : HBF_DOMAIN_NONE;
    out.extended_by = tier.extended_by;
    out.line_size = line;
    out.capacity = tier.capacity;
    {
        const std::lock_guard lock(mutex_);
        out.available = tier.capacity - used_[index];
    }
    out.granule = granule;
    out.alignment = line;
    out.copy_alignment = line;
    sdk::set_text(out.name, tier.name);
    sdk::set_text(out.detail, tier.detail);
}

void Tiers::describe_domain(uint32_t, hbf_domain_info &out) const {
    const bool atomics = (context_.facts.host_access & ze::access_concurrent_atomic) != 0;
    out.protocol = HBF_PROTOCOL_HARDWARE;
    out.granule = line;
    out.agents = HBF_AGENT_CPU | HBF_AGENT_COPY_ENGINE | HBF_AGENT_DEVICE;
    out.atomic_widths = atomics ? 4 + (context_.facts.modules & ze::has_int64_atomics ? 8 : 0) : 0;
    sdk::set_text(out.name, "usm");
    sdk::set_text(out.detail, fmt::format("zeDeviceGetMemoryAccessProperties: host {:#x}, shared {:#x} (4 concurrent, 8 "
                                          "concurrent atomics)",
                                          context_.facts.host_access, context_.facts.shared_access));
}

void *Tiers::allocate(const Tier &tier, uint64_t bytes, uint64_t alignment) {
    const Functions &ze = context_.ze;
    const ze::DeviceAllocDesc device;
    const ze::HostAllocDesc host;
    void *at = nullptr;
    switch (tier.sort) {
    case Sort::device:
        check(ze.zeMemAllocDevice(context_.context.handle, &device, bytes, alignment, context_.device, &at),
              fmt::format("{}: zeMemAllocDevice of {} bytes", tier.name, bytes));
        break;
    case Sort::pinned:
        check(ze.zeMemAllocHost(context_.context.handle, &host, bytes, alignment, &at),
              fmt::format("{}: zeMemAllocHost of {} bytes", tier.name, bytes));
        break;
    default:
        check(ze.zeMemAllocShared(context_.context.handle, &device, &host, bytes, alignment, context_.device, &at),
              fmt::format("{}: zeMemAllocShared of {} bytes", tier.name, bytes));
    }
    if (!at || reinterpret_cast<uintptr_t>(at) % alignment != 0) {
        if (at) ze.zeMemFree(context_.context.handle, at);
        sdk::fail(HBF_INTERNAL, fmt::format("{}: the driver gave memory at {}, where a multiple of {} was asked for",
                                            tier.name, at, alignment));
    }
    return at;
}

std::unique_ptr<ZeRegion> Tiers::make(const sdk::AllocRequest &request) {
    const Tier &tier = tiers_[request.tier];
    if (!request.name.empty()) sdk::fail(HBF_UNSUPPORTED, fmt::format("{} keeps no named regions", tier.name));
    if (request.pages != HBF_PAGES_DEFAULT)
        sdk::fail(HBF_UNAVAILABLE, fmt::format("{}: Level Zero lets nobody choose pages: ask for the default", tier.name));
    if (request.alignment > most_alignment)
        sdk::fail(HBF_UNSUPPORTED, fmt::format("{}: alignment {} is over {}", tier.name, request.alignment, most_alignment));
    if (request.size > tier.capacity)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{} has {} bytes, {} are wanted", tier.name, tier.capacity, request.size));
    const uint64_t bytes = (request.size + granule - 1) / granule * granule;
    // "must be less-than maxMemAllocSize" (zeMemAllocDevice)
    if (bytes >= context_.facts.largest)
        sdk::fail(HBF_EXHAUSTED,
                  fmt::format("{}: {} bytes in one piece are over the device's limit of {} (maxMemAllocSize): "
                              "take several regions",
                              tier.name, request.size, context_.facts.largest));
    auto region = std::make_unique<ZeRegion>();
    region->tier = request.tier;
    {
        const std::lock_guard lock(mutex_);
        uint64_t &used = used_[request.tier];
        if (bytes > tier.capacity - used)
            sdk::fail(HBF_EXHAUSTED,
                      fmt::format("{}: {} bytes wanted, {} of {} are in use", tier.name, bytes, used, tier.capacity));
        used += bytes;
    }
    region->owner = this; // from here on its destructor gives back what it has
    region->taken = bytes;
    region->sort = tier.sort;
    region->size = request.size;
    region->for_kernels = true;
    region->block = allocate(tier, bytes, std::max(request.alignment, line));
    region->at = reinterpret_cast<uint64_t>(region->block);
    region->host = tier.cpu ? static_cast<std::byte *>(region->block) : nullptr;
    if (tier.sort != Sort::device) {
        ze::AllocationProperties properties{};
        ze::Device device = nullptr;
        if (context_.ze.zeMemGetAllocProperties(context_.context.handle, region->block, &properties, &device) == ze::success)
            region->page_size = properties.pageSize;
    }
    // No owner before sees its bytes here.
    if (region->host) {
        std::memset(region->host, 0, bytes);
        return region;
    }
    bool runs = false;
    try {
        context_.zero(region->block, bytes, runs);
    } catch (...) {
        if (runs) region->block = nullptr; // the device may write it yet: it goes to nobody else
        throw;
    }
    return region;
}

ZeRegion::~ZeRegion() {
    if (!owner) return;
    // zeMemFree asks nobody whether the memory is in use; the region's pins did.
    if (block) owner->context_.ze.zeMemFree(owner->context_.context.handle, block);
    const std::lock_guard lock(owner->mutex_);
    owner->used_[tier] -= taken;
}

} // namespace hbf::level_zero
