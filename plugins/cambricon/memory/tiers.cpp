// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/memory/tiers.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "core/output/size.hpp"
#include "hbf/sdk/text.hpp"
#include "plugins/cambricon/current_device.hpp"
#include "plugins/cambricon/errors.hpp"
#include "plugins/stream/left.hpp"

namespace hbf::cambricon {
namespace {

// CNRT says of no allocation how it is aligned: what comes less aligned than this is asked for again, with room to move.
constexpr uint64_t granule = 4096, alignment = 256, widest_alignment = 2 << 20;
constexpr uint32_t line = 64; // "64-byte lines": cnrtMcacheOperation
constexpr uint64_t most_pinned = uint64_t{64} << 30;

// Pinned memory is the host's, which others need too.
uint64_t pinned_share() {
    const auto pages = static_cast<uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
    const auto page = static_cast<uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 4096L));
    return std::clamp<uint64_t>(pages * page / 8, granule, most_pinned) / granule * granule;
}

std::array<Tier, Tiers::count> tiers_of(const DeviceFacts &facts, const CambriconOptions &options) {
    const uint64_t device =
        options.device_bytes ? options.device_bytes : std::max(facts.free / 16 * 15 / granule * granule, granule);
    const uint64_t pinned = options.pinned_bytes ? options.pinned_bytes : pinned_share();
    return {Tier{Sort::device, "device0", HBF_TIER_HBM, HBF_MEDIA_DRAM, HBF_ACCESS_DEVICE | HBF_ACCESS_DMA, HBF_DOMAIN_NONE,
                 1, device,
                 fmt::format("the MLU's own memory ({}, ECC {}), which commands reach and the CPU does not; on-chip memory "
                             "belongs to kernels and is no tier",
                             format_size(facts.memory), facts.ecc ? "on" : "off")},
            Tier{Sort::pinned, "pinned0", HBF_TIER_HBF, HBF_MEDIA_PINNED, HBF_ACCESS_CPU | HBF_ACCESS_DMA,
                 Tiers::pinned_domain, HBF_TIER_NONE, pinned,
                 "pinned host memory (cnrtHostMalloc) over PCIe, for want of coherent memory and of links to peers; storage "
                 "is the host plugin's, through two buffers"}};
}

uint64_t round_up(uint64_t value, uint64_t to) {
    return (value + to - 1) / to * to;
}

} // namespace

Region::~Region() {
    if (tiers) tiers->end(*this);
}

Tiers::Tiers(const Cnrt &cnrt, const DeviceFacts &facts, const CambriconOptions &options)
    : cnrt_(cnrt), facts_(facts), tiers_(tiers_of(facts, options)) {
    check(cnrt, cnrt.QueueCreate(&aside_), "cnrtQueueCreate");
}

Tiers::~Tiers() {
    if (stuck_) return; // a queue ends when its work has ended
    const OnDevice on(cnrt_, facts_.ordinal);
    (void)cnrt_.QueueDestroy(aside_);
}

void Tiers::describe(uint32_t index, hbf_tier_info &out) {
    const Tier &tier = tiers_[index];
    out.kind = tier.kind;
    out.media = tier.media;
    out.reality = facts_.emulated() ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
    out.access = tier.access;
    out.numa_node = tier.sort == Sort::device ? facts_.numa_node : -1;
    out.coherence_domain = tier.domain;
    out.extended_by = tier.extended_by;
    out.line_size = line;
    out.capacity = tier.capacity;
    {
        const std::lock_guard lock(mutex_);
        out.available = tier.capacity - used_[index];
    }
    out.granule = granule;
    out.alignment = alignment;
    out.copy_alignment = line;
    out.nominal_bandwidth = tier.sort == Sort::device ? facts_.bandwidth : 0;
    sdk::set_text(out.name, tier.name);
    sdk::set_text(out.detail, tier.detail);
}

std::unique_ptr<Region> Tiers::make(const sdk::AllocRequest &request) {
    const Tier &tier = tiers_[request.tier];
    if (!request.name.empty()) sdk::fail(HBF_UNSUPPORTED, fmt::format("{} keeps no named regions", tier.name));
    if (request.pages != HBF_PAGES_DEFAULT)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("{}: CNRT does not say what pages memory has: ask for the default", tier.name));
    if (request.alignment > widest_alignment)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("{}: alignment {} is over {}", tier.name, request.alignment, widest_alignment));
    if (request.size > tier.capacity)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{} has {} bytes, {} are wanted", tier.name, tier.capacity, request.size));
    const uint64_t bytes = round_up(request.size, granule);
    auto region = std::make_unique<Region>();
    region->sort = tier.sort;
    region->tier = request.tier;
    region->size = request.size;
    {
        const std::lock_guard lock(mutex_);
        uint64_t &used = used_[request.tier];
        if (bytes > tier.capacity - used)
            sdk::fail(HBF_EXHAUSTED,
                      fmt::format("{}: {} bytes wanted, {} of {} are in use", tier.name, bytes, used, tier.capacity));
        used += bytes;
        region->taken = bytes;
        region->tiers = this;
    }
    allocate(*region, tier, bytes, std::max(request.alignment, alignment));
    try {
        zero(*region, bytes);
    } catch (...) {
        if (stuck_) stream::leave(region.release());
        throw;
    }
    return region;
}

void Tiers::allocate(Region &region, const Tier &tier, uint64_t bytes, uint64_t align) {
    // With room to move only where it is needed.
    for (const uint64_t room : {uint64_t{0}, align}) {
        void *at = nullptr;
        const int code = tier.sort == Sort::device ? cnrt_.Malloc(&at, bytes + room) : cnrt_.HostMalloc(&at, bytes + room);
        if (code != code::success || !at)
            sdk::fail(code == code::success ? HBF_EXHAUSTED : error_status(code, false),
                      fmt::format("{}: {} of {} bytes: {}", tier.name,
                                  tier.sort == Sort::device ? "cnrtMalloc" : "cnrtHostMalloc", bytes + room,
                                  code == code::success ? "it gives nothing" : error_text(cnrt_, code)));
        region.allocated = at;
        region.at = round_up(reinterpret_cast<uintptr_t>(at), align);
        if (region.at + bytes <= reinterpret_cast<uintptr_t>(at) + bytes + room) break;
        free(region);
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the runtime's addresses are numbers here
    if (tier.sort == Sort::pinned) region.host = reinterpret_cast<std::byte *>(region.at);
}

// No owner before sees its bytes here.
void Tiers::zero(Region &region, uint64_t bytes) {
    if (region.host) {
        std::memset(region.host, 0, bytes);
        return;
    }
    const std::lock_guard lock(aside_mutex_);
    // Piece by piece: a device that is slow gets on, one that does nothing is known by its first piece.
    constexpr uint64_t piece = uint64_t{1} << 30;
    for (uint64_t done = 0; done < bytes; done += piece) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the runtime's addresses are numbers here
        auto *const at = reinterpret_cast<void *>(region.at + done);
        check(cnrt_, cnrt_.MemsetAsync(at, 0, std::min(piece, bytes - done), aside_), "cnrtMemsetAsync of a new region");
        wait_aside();
    }
}

// cnrtQueueSync knows no limit.
void Tiers::wait_aside() {
    const auto until = std::chrono::steady_clock::now() + patience;
    int code = code::success;
    while (still_runs(code = cnrt_.QueueQuery(aside_))) {
        if (std::chrono::steady_clock::now() >= until) {
            stuck_ = true;
            sdk::fail(HBF_DEVICE_LOST,
                      fmt::format("zeroing a new region got no further in {} ms: {} answers, and does no work; remedy: look "
                                  "at dmesg for cambricon, then cnmon reset, as root",
                                  patience.count(), facts_.name));
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    check(cnrt_, code, "zeroing a new region");
}

void Tiers::free(Region &region) noexcept {
    if (!region.allocated) return;
    if (region.sort == Sort::device)
        (void)cnrt_.Free(region.allocated); // nothing is in flight: commands hold their regions
    else
        (void)cnrt_.FreeHost(region.allocated);
    region.allocated = nullptr;
}

void Tiers::end(Region &region) noexcept {
    {
        const OnDevice on(cnrt_, facts_.ordinal);
        free(region);
    }
    const std::lock_guard lock(mutex_);
    used_[region.tier] -= region.taken;
}

} // namespace hbf::cambricon
