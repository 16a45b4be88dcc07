// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/memory/tiers.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"
#include "plugins/amd/memory/verify.hpp"
#include "plugins/amd/on_device.hpp"
#include "plugins/stream/left.hpp"

namespace hbf::amd {
namespace {

constexpr uint64_t granule = 4096, alignment_given = 256, widest_alignment = 2 << 20;
constexpr uint32_t line = 128; // bytes, of the L2 of every CDNA and of RDNA

std::byte *aligned(std::byte *at, uint64_t alignment) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    return at + ((alignment - address % alignment) % alignment);
}

bool is_aligned(const std::byte *at, uint64_t alignment) {
    return reinterpret_cast<uintptr_t>(at) % alignment == 0;
}

} // namespace

// A part of a tier, given back at its end.
class Tiers::Share {
public:
    Share(std::mutex &mutex, uint64_t &used, uint64_t bytes, const Tier &tier) : mutex_(mutex), used_(used), bytes_(bytes) {
        const std::lock_guard lock(mutex_);
        if (bytes > tier.capacity - used)
            sdk::fail(HBF_EXHAUSTED,
                      fmt::format("{}: {} bytes wanted, {} of {} are in use", tier.name, bytes, used, tier.capacity));
        used += bytes;
    }
    ~Share() {
        const std::lock_guard lock(mutex_);
        used_ -= bytes_;
    }
    Share(const Share &) = delete;
    Share &operator=(const Share &) = delete;

private:
    std::mutex &mutex_;
    uint64_t &used_;
    uint64_t bytes_;
};

namespace {

struct HipRegion final : stream::Region {
    std::optional<Tiers::Share> share; // ends last
    std::unique_ptr<Block> block;
};

} // namespace

Tiers::Tiers(const DeviceFacts &facts, std::vector<Tier> tiers, const sdk::Log &log)
    : device_(facts.ordinal), emulated_(facts.emulated()), aside_(facts.ordinal) {
    for (Tier &tier : tiers) {
        if (!try_out(tier, log)) continue;
        has_cxl_ |= tier.sort == Sort::cxl;
        log.info(fmt::format("tier {}: {}", tier.name, tier.detail));
        tiers_.push_back(std::move(tier));
    }
    used_.resize(tiers_.size());
}

std::unique_ptr<Block> Tiers::block(const Tier &tier, uint64_t size) const {
    switch (tier.sort) {
    case Sort::cxl:
        return std::make_unique<NodeBlock>(device_, size, tier.node, tier.placed);
    case Sort::host:
        return std::make_unique<HostBlock>(device_, size, tier.coherence);
    default:
        return std::make_unique<DeviceBlock>(tier.owner, size, tier.coherence);
    }
}

bool Tiers::try_out(const Tier &tier, const sdk::Log &log) {
    std::unique_ptr<Block> tried;
    try {
        tried = block(tier, granule);
    } catch (const sdk::Failure &failure) {
        const std::string what = fmt::format("{}: {}", tier.name, failure.message);
        if (failure.status == HBF_DEVICE_LOST || (tier.sort != Sort::cxl && tier.sort != Sort::peer))
            sdk::fail(failure.status, what);
        log.warning(what + "; the tier is left out");
        return false;
    }
    verify(tier, tried->at(), log);
    return true;
}

void Tiers::verify(const Tier &tier, const std::byte *at, const sdk::Log &log) {
    const Verified verified = verify_class(at, granule, tier.coherence);
    if (verified.is == Verified::Is::otherwise)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("{}: {} memory was asked for, and {}: what the device and the CPUs write there would not be "
                              "seen when it is said to be; remedy: turn the coherence mode of {} on, or leave the tier out "
                              "(option {})",
                              tier.name, name_of(tier.coherence), verified.words,
                              tier.sort == Sort::cxl ? "the CXL memory" : "the machine",
                              tier.sort == Sort::cxl    ? "cxl = off"
                              : tier.sort == Sort::host ? "host_class = coarse"
                                                        : "hbm_class = coarse"));
    if (verified.is == Verified::Is::unknown && tier.coherence != CoherenceClass::coarse)
        log.info(fmt::format("tier {}: its coherence class is not confirmed: {}", tier.name, verified.words));
    if (tier.cpu()) domain_words_[tier.domain] = verified.words;
}

uint64_t Tiers::free_of(const Tier &tier) const {
    if (tier.cpu()) return UINT64_MAX;
    const OnDevice here(tier.owner);
    size_t free = 0, total = 0;
    return taken(library().hip.MemGetInfo(&free, &total)) == code::success ? free : UINT64_MAX;
}

void Tiers::describe(uint32_t index, hbf_tier_info &out) {
    const Tier &tier = tiers_[index];
    out.kind = tier.kind;
    out.media = tier.media;
    out.reality = emulated_ ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
    out.access = HBF_ACCESS_DMA | (tier.kernels ? HBF_ACCESS_DEVICE : 0) | (tier.cpu() ? HBF_ACCESS_CPU : 0);
    out.flags = (tier.sort == Sort::cxl && tier.placed ? HBF_TIER_FLAG_NUMA_BOUND : 0) |
                (tier.degraded ? HBF_TIER_FLAG_DEGRADED : 0);
    out.numa_node = tier.node;
    out.coherence_domain = tier.domain;
    out.extended_by = index + 1 < tiers_.size() ? index + 1 : HBF_TIER_NONE; // they stand in the order of preference
    out.line_size = line;
    out.capacity = tier.capacity;
    const uint64_t free = free_of(tier);
    {
        const std::lock_guard lock(mutex_);
        out.available = std::min(free, tier.capacity - used_[index]);
    }
    out.granule = granule;
    out.alignment = alignment_given;
    out.copy_alignment = line;
    sdk::set_text(out.name, tier.name);
    sdk::set_text(out.detail, tier.detail);
}

void Tiers::describe_domain(uint32_t domain, hbf_domain_info &out) const {
    const auto of = std::find_if(tiers_.begin(), tiers_.end(), [&](const Tier &one) { return one.domain == domain; });
    const bool fine = of == tiers_.end() || of->coherence == CoherenceClass::fine;
    out.protocol = HBF_PROTOCOL_HARDWARE;
    out.granule = line;
    // In coarse-grained memory kernels see, and are seen, at their begin and end only.
    out.agents = HBF_AGENT_CPU | HBF_AGENT_COPY_ENGINE | (fine ? HBF_AGENT_DEVICE : 0);
    out.atomic_widths = fine ? 1 + 2 + 4 + 8 : 0;
    sdk::set_text(out.name, domain == host_domain ? "host" : "cxl");
    const std::string &said = domain_words_[domain];
    sdk::set_text(out.detail, fmt::format("{}-grained memory of the host; {}", fine ? "fine" : "coarse",
                                          said.empty() ? "there is no tier of it" : said));
}

void Tiers::check_request(const Tier &tier, const sdk::AllocRequest &request) const {
    if (!request.name.empty()) sdk::fail(HBF_UNSUPPORTED, fmt::format("{} keeps no named regions", tier.name));
    if (request.pages != HBF_PAGES_DEFAULT)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("{}: HIP does not say what pages memory has: ask for the default", tier.name));
    if (request.alignment > widest_alignment)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("{}: alignment {} is over {}", tier.name, request.alignment, widest_alignment));
    if (request.size > tier.capacity)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{} has {} bytes, {} are wanted", tier.name, tier.capacity, request.size));
}

std::unique_ptr<stream::Region> Tiers::make(const sdk::AllocRequest &request) {
    const Tier &tier = tiers_[request.tier];
    check_request(tier, request);
    const uint64_t bytes = (request.size + granule - 1) / granule * granule;
    const uint64_t alignment = std::max(request.alignment, alignment_given);
    auto region = std::make_unique<HipRegion>();
    region->share.emplace(mutex_, used_[request.tier], bytes, tier);
    try {
        region->block = block(tier, bytes);
        // Aligned as a rule: only a wider alignment, or a runtime that does otherwise, needs more to find it in.
        if (!is_aligned(region->block->at(), alignment) || !is_aligned(region->block->on_device(), alignment)) {
            region->block.reset();
            region->block = block(tier, bytes + alignment);
        }
    } catch (const sdk::Failure &failure) {
        sdk::fail(failure.status, fmt::format("{}: {}", tier.name, failure.message));
    }
    std::byte *const begin = aligned(region->block->at(), alignment);
    const auto shift = begin - region->block->at();
    region->tier = request.tier;
    region->size = request.size;
    region->at = reinterpret_cast<uintptr_t>(region->block->on_device() + shift);
    region->for_kernels = tier.kernels;
    if (tier.cpu()) {
        region->host = begin;
        std::memset(begin, 0, bytes);
    } else {
        try {
            aside_.clear(begin, bytes); // no owner before sees its bytes here
        } catch (...) {
            if (aside_.stuck()) stream::leave(region.release());
            throw;
        }
    }
    if (const Verified verified = verify_class(begin, bytes, tier.coherence); verified.is == Verified::Is::otherwise)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("{}: {} memory was asked for, and {}", tier.name, name_of(tier.coherence), verified.words));
    return region;
}

std::unique_ptr<stream::Region> Tiers::make_registered(void *address, uint64_t size) const {
    auto region = std::make_unique<HipRegion>();
    region->block = std::make_unique<RegisteredBlock>(device_, address, size);
    region->size = size;
    region->host = static_cast<std::byte *>(address);
    region->at = reinterpret_cast<uintptr_t>(region->block->on_device());
    return region;
}

} // namespace hbf::amd
