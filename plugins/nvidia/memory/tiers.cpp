// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/memory/tiers.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"
#include "plugins/nvidia/errors.hpp"

namespace hbf::nvidia {
namespace {

constexpr uint64_t line = 128, page = 4096, widest = 2 << 20;
constexpr int least_hbm_width = 1024; // bits: one stack of HBM has as many, the widest GDDR card 512

uint64_t rounded(uint64_t bytes, uint64_t granule) {
    return std::max(bytes / granule, uint64_t{1}) * granule;
}

} // namespace

// A region of a tier; gives its share back at its end.
struct TierRegion final : stream::Region {
    TierRegion(Tiers &from, uint32_t index, uint64_t all) : tiers(from), taken(all) {
        tiers.take(index, taken);
        tier = index;
    }
    ~TierRegion() override {
        mapped.reset();
        plain.reset();
        pinned.reset();
        tiers.give_back(tier, taken);
    }
    Tiers &tiers;
    const uint64_t taken;
    std::optional<MappedBlock> mapped;
    std::optional<PlainBlock> plain;
    std::optional<PinnedBlock> pinned;
};

struct RegisteredRegion final : stream::Region {
    RegisteredRegion(const Context &context, void *address, uint64_t bytes) : range(context, address, bytes) {
        size = bytes;
        at = range.on_device();
        host = static_cast<std::byte *>(address);
    }
    HostRange range;
};

struct FileRegion final : stream::Region {
    FileRegion(FileStore &of, uint64_t bytes) : store(of), taken(bytes) {
        at = store.take(taken);
        file = true;
    }
    ~FileRegion() override { store.give_back(at, taken); }
    FileStore &store;
    const uint64_t taken;
};

Tiers::Tiers(Context &context, const Options &options, const std::vector<Peer> &peers, const HostMemory &host,
             FileStore *store)
    : context_(context), host_(host), store_(store) {
    add_device(options);
    add_peers(options, peers);
    add_pinned(options);
    if (store_) add_file();
    for (size_t i = 0; i + 1 < tiers_.size(); ++i) tiers_[i].extended_by = static_cast<uint32_t>(i + 1);
    used_.resize(tiers_.size());
}

void Tiers::add_device(const Options &options) {
    const DeviceFacts &facts = context_.facts;
    Tier tier;
    tier.name = "hbm0";
    tier.media = facts.bus_width >= least_hbm_width ? HBF_MEDIA_HBM : HBF_MEDIA_UNKNOWN;
    tier.access = HBF_ACCESS_DEVICE | HBF_ACCESS_DMA;
    tier.home = facts.device;
    tier.mapped = facts.virtual_memory && options.virtual_memory == Choice::automatic;
    tier.granule = tier.mapped ? MappedBlock::granularity(context_, facts.device) : page;
    tier.alignment = tier.mapped ? tier.granule : 256;
    tier.most_alignment = std::max(widest, tier.alignment);
    // What others have taken is not there; a sixteenth stays for contexts, kernels' local memory and the driver.
    const uint64_t free = context_.free_bytes(), reserve = facts.memory / 16;
    const uint64_t usual = free != 0 ? std::min(free, facts.memory) : facts.memory;
    if (options.hbm_bytes > facts.memory)
        sdk::fail(HBF_INVALID,
                  fmt::format("option hbm_bytes: {} is over the device's {} bytes", options.hbm_bytes, facts.memory));
    tier.capacity = rounded(options.hbm_bytes ? options.hbm_bytes : usual > reserve ? usual - reserve : usual, tier.granule);
    const char *const how = tier.mapped ? "cuMemCreate, mapped in granules"
                            : options.virtual_memory == Choice::off
                                ? "cuMemAlloc, as option virtual_memory asks for"
                                : "cuMemAlloc: the device has no virtual memory management";
    if (!tier.mapped && options.virtual_memory == Choice::automatic) tier.flags |= HBF_TIER_FLAG_DEGRADED;
    tier.detail = fmt::format("memory of {} ({} bits wide), by {}; commands and kernels reach it, the CPU does not",
                              facts.name, facts.bus_width, how);
    if (facts.mps) tier.detail += "; shared through MPS";
    tiers_.push_back(tier);
}

void Tiers::add_peers(const Options &options, const std::vector<Peer> &peers) {
    for (const Peer &peer : peers) {
        Tier tier;
        tier.sort = Sort::peer;
        tier.name = fmt::format("peer{}", tiers_.size() - 1);
        tier.kind = HBF_TIER_HBF;
        tier.media = HBF_MEDIA_PEER;
        tier.access = HBF_ACCESS_DMA | (peer.kernels ? HBF_ACCESS_DEVICE : 0);
        tier.home = peer.device;
        tier.mapped = true;
        tier.granule = tier.alignment = MappedBlock::granularity(context_, peer.device);
        tier.most_alignment = std::max(widest, tier.alignment);
        // The device's own users come first: an eighth of it.
        tier.capacity =
            rounded(options.peer_bytes ? std::min(options.peer_bytes, peer.memory) : peer.memory / 8, tier.granule);
        tier.detail = peer.detail;
        tiers_.push_back(tier);
    }
}

void Tiers::add_pinned(const Options &options) {
    const DeviceFacts &facts = context_.facts;
    if (!has_domain()) return;
    const bool coherent = facts.coherent_link();
    Tier tier;
    tier.sort = Sort::pinned;
    tier.name = coherent ? "c2c0" : "pinned0";
    tier.kind = HBF_TIER_HBF;
    tier.media = coherent ? HBF_MEDIA_DRAM : HBF_MEDIA_PINNED;
    tier.access = HBF_ACCESS_CPU | HBF_ACCESS_DEVICE | HBF_ACCESS_DMA;
    tier.domain = 0;
    tier.granule = page;
    tier.alignment = page;
    tier.most_alignment = widest;
    tier.capacity = rounded(options.pinned_bytes ? options.pinned_bytes : host_.bytes / 8, tier.granule);
    tier.detail = coherent
                      ? "the host's memory over the chip-to-chip link: the device walks the CPU's page tables, and "
                        "atomics work both ways"
                      : "the host's memory, pinned; the device reaches it over PCIe, and its reads see the CPU's caches";
    const int wanted = facts.host_numa_id >= 0 ? facts.host_numa_id : host_.node;
    if (wanted >= 0) {
        const std::string trouble = node_trouble(wanted);
        if (trouble.empty()) {
            tier.node = wanted;
            tier.detail += fmt::format("; node {} preferred", wanted);
        } else {
            tier.flags |= HBF_TIER_FLAG_DEGRADED;
            tier.detail += fmt::format("; anywhere, for node {} cannot be asked for: {}", wanted, trouble);
        }
    }
    tiers_.push_back(tier);
}

void Tiers::add_file() {
    Tier tier;
    tier.sort = Sort::file;
    tier.name = "gds0";
    tier.kind = HBF_TIER_COLD;
    tier.media = HBF_MEDIA_FILE;
    tier.access = HBF_ACCESS_DMA;
    tier.granule = tier.alignment = FileStore::granule;
    tier.most_alignment = FileStore::granule;
    tier.capacity = store_->capacity;
    tier.detail = fmt::format("a file in {}, by cuFile; whether past the host's memory (GPUDirect Storage) or in its "
                              "compatibility mode cuFile does not say: gdscheck -p does",
                              store_->folder());
    tiers_.push_back(tier);
}

void Tiers::take(uint32_t index, uint64_t bytes) {
    const Tier &tier = tiers_[index];
    const std::lock_guard lock(mutex_);
    if (bytes > tier.capacity - used_[index])
        sdk::fail(HBF_EXHAUSTED,
                  fmt::format("{}: {} bytes wanted, {} of {} are in use", tier.name, bytes, used_[index], tier.capacity));
    used_[index] += bytes;
}

void Tiers::give_back(uint32_t index, uint64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    used_[index] -= bytes;
}

void Tiers::describe(uint32_t index, hbf_tier_info &out) {
    const Tier &tier = tiers_[index];
    out.kind = tier.kind;
    out.media = tier.media;
    out.reality = context_.facts.emulated() ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
    out.access = tier.access;
    out.flags = tier.flags;
    out.numa_node = tier.node;
    out.coherence_domain = tier.domain;
    out.extended_by = tier.extended_by;
    out.line_size = tier.sort == Sort::file ? 0 : line;
    out.capacity = tier.capacity;
    {
        const std::lock_guard lock(mutex_);
        out.available = tier.capacity - used_[index];
    }
    if (tier.sort == Sort::file) out.available = store_->free_bytes();
    // Others may have taken some since.
    if (tier.sort == Sort::device)
        if (const uint64_t free = context_.free_bytes(); free != 0) out.available = std::min(out.available, free);
    out.granule = tier.granule;
    out.alignment = tier.alignment;
    out.copy_alignment = tier.sort == Sort::file ? static_cast<uint32_t>(FileStore::granule) : line;
    sdk::set_text(out.name, tier.name);
    sdk::set_text(out.detail, tier.detail);
}

void Tiers::describe_domain(hbf_domain_info &out) const {
    const DeviceFacts &facts = context_.facts;
    out.protocol = HBF_PROTOCOL_HARDWARE;
    out.granule = line;
    out.agents = HBF_AGENT_CPU | HBF_AGENT_COPY_ENGINE | HBF_AGENT_DEVICE;
    out.atomic_widths = 4 + 8;
    sdk::set_text(out.name, "host");
    sdk::set_text(out.detail, facts.coherent_link()
                                  ? "CU_DEVICE_ATTRIBUTE 88, 100 and 86: pageable access, host page tables, native atomics"
                                  : "CUDA: pinned memory is snooped; whole words are loaded and stored at once");
}

std::unique_ptr<stream::Region> Tiers::make(const sdk::AllocRequest &request) {
    const Tier &tier = tiers_[request.tier];
    if (!request.name.empty()) sdk::fail(HBF_UNSUPPORTED, fmt::format("{} keeps no named regions", tier.name));
    if (request.pages != HBF_PAGES_DEFAULT)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("{}: the driver does not say what pages memory has: ask for the default", tier.name));
    if (request.alignment > tier.most_alignment)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("{}: alignment {} is over {}", tier.name, request.alignment, tier.most_alignment));
    if (request.size > tier.capacity)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{} has {} bytes, {} are wanted", tier.name, tier.capacity, request.size));
    const uint64_t alignment = std::max(request.alignment, tier.alignment);
    const uint64_t bytes = (request.size + tier.granule - 1) / tier.granule * tier.granule;
    if (tier.sort == Sort::file) {
        auto region = std::make_unique<FileRegion>(*store_, bytes);
        region->tier = request.tier;
        region->size = request.size;
        return region;
    }
    auto region = std::make_unique<TierRegion>(*this, request.tier, bytes);
    region->size = request.size;
    region->for_kernels = (tier.access & HBF_ACCESS_DEVICE) != 0;
    if (tier.sort == Sort::pinned) {
        region->pinned.emplace(context_, bytes, alignment, tier.node);
        region->at = region->pinned->at();
        region->host = region->pinned->host();
        std::memset(region->host, 0, bytes); // taken now, not at first use
        return region;
    }
    if (tier.mapped) {
        region->mapped.emplace(context_, tier.home, bytes, alignment);
        region->at = region->mapped->at();
    } else {
        region->plain.emplace(context_, bytes, alignment);
        region->at = region->plain->at();
    }
    if (region->at % alignment != 0)
        sdk::fail(HBF_UNSUPPORTED, fmt::format("{}: alignment {}: the driver gave {:#x}", tier.name, alignment, region->at));
    try {
        context_.zero(region->at, bytes); // no owner before sees its bytes here
    } catch (...) {
        if (context_.stuck()) leave(region.release());
        throw;
    }
    return region;
}

std::unique_ptr<stream::Region> Tiers::make_registered(void *address, uint64_t size) {
    if (!context_.facts.host_register)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("{} registers no memory of the host (CU_DEVICE_ATTRIBUTE 99)", context_.facts.name));
    if (!host_.trouble.empty())
        sdk::fail(HBF_UNSUPPORTED, fmt::format("{} registers no memory of the host: it could not be tried: {}",
                                               context_.facts.name, host_.trouble));
    return std::make_unique<RegisteredRegion>(context_, address, size);
}

} // namespace hbf::nvidia
