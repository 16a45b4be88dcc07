// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/instance.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "conformance/sim/queue.hpp"
#include "hbf/sdk/text.hpp"

namespace hbf::sim {
namespace {

uint64_t page_size() {
    return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

hbf_reading reading(const char *name, const char *unit, uint64_t value, hbf_reading_kind kind = HBF_READING_COUNTER) {
    hbf_reading result{};
    result.struct_size = sizeof result;
    result.kind = kind;
    result.value = value;
    sdk::set_text(result.name, name);
    sdk::set_text(result.unit, unit);
    return result;
}

// Bytes of a tier, given back unless they are kept.
class Room {
public:
    Room(std::mutex &mutex, uint64_t &used, uint64_t bytes, const TierModel &tier)
        : mutex_(mutex), used_(used), bytes_(bytes) {
        std::lock_guard lock(mutex_);
        if (bytes > tier.capacity - used)
            sdk::fail(HBF_EXHAUSTED,
                      fmt::format("{}: {} bytes wanted, {} of {} are in use", tier.name, bytes, used, tier.capacity));
        used += bytes;
    }
    ~Room() {
        std::lock_guard lock(mutex_);
        used_ -= bytes_;
    }
    Room(const Room &) = delete;
    Room &operator=(const Room &) = delete;
    void keep() { bytes_ = 0; }

private:
    std::mutex &mutex_;
    uint64_t &used_;
    uint64_t bytes_;
};

} // namespace

SimInstance::SimInstance(SimOptions options)
    : options_(std::move(options)), model_(small_model(options_)), used_(model_.tiers.size()),
      engine_(options_.engines, options_.seed, options_.fail_copy, model_.queues.max_queues, counters_) {}

void SimInstance::describe_tier(uint32_t tier, hbf_tier_info &out) {
    const TierModel &model = model_.tiers[tier];
    out.kind = model.kind;
    out.media = model.media;
    out.reality = HBF_REALITY_EMULATED;
    out.access = model.access;
    out.flags = model.named ? HBF_TIER_FLAG_PERSISTENT : 0;
    out.numa_node = -1;
    out.coherence_domain = model.domain;
    out.extended_by = model.extended_by;
    out.line_size = model.domain == HBF_DOMAIN_NONE ? 0 : static_cast<uint32_t>(model_.domains[model.domain].line);
    out.capacity = model.capacity;
    {
        std::lock_guard lock(room_mutex_);
        out.available = model.capacity - used_[tier];
    }
    out.granule = out.alignment = model.granule;
    out.copy_alignment = sizeof(uint64_t);
    sdk::set_text(out.name, model.name);
    sdk::set_text(out.detail, model.detail);
}

std::unique_ptr<Region> SimInstance::make_region(const sdk::AllocRequest &request, uint64_t bytes) {
    const TierModel &tier = model_.tiers[request.tier];
    const uint64_t alignment = std::max(request.alignment, tier.granule);
    if (!request.name.empty()) {
        NamedFile file = request.open_existing ? NamedFile::open(options_.folder, request.name, request.size)
                                               : NamedFile::create(options_.folder, request.name, bytes);
        Mapping memory = Mapping::of_file(file.fd(), bytes);
        return std::make_unique<Region>(
            Region{request.tier, request.size, bytes, std::move(file), Store(std::move(memory), false)});
    }
    auto region = std::make_unique<Region>(
        Region{request.tier, request.size, bytes, {}, Store(Mapping::zeroed(bytes, alignment), !tier.cpu())});
    if (tier.cpu() && model_.domains[tier.domain].protocol == HBF_PROTOCOL_SOFTWARE)
        region->shadow.emplace(bytes, alignment, model_.domains[tier.domain].line);
    region->live = tier.cpu() && !region->shadow;
    region->kernels = tier.access & HBF_ACCESS_DEVICE;
    return region;
}

hbf_region_info SimInstance::alloc(const sdk::AllocRequest &request) {
    const TierModel &tier = model_.tiers[request.tier];
    if (!request.name.empty() && !tier.named)
        sdk::fail(HBF_UNSUPPORTED, fmt::format("{} keeps no named regions{}", tier.name,
                                               tier.cpu() ? "" : ": option sim.persist names a folder for them"));
    if (request.pages > HBF_PAGES_4K || (request.pages == HBF_PAGES_4K && !tier.cpu()))
        sdk::fail(HBF_UNAVAILABLE, fmt::format("{} has no pages of that size", tier.name));
    if (request.alignment > tier.most_alignment)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("{}: alignment {} is over {}", tier.name, request.alignment, tier.most_alignment));
    if (request.size > tier.capacity)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{} has {} bytes, {} are wanted", tier.name, tier.capacity, request.size));
    const uint64_t bytes = (request.size + tier.granule - 1) / tier.granule * tier.granule;
    Room room(room_mutex_, used_[request.tier], bytes, tier);
    std::unique_ptr<Region> made = make_region(request, bytes);
    std::byte *const address = !tier.cpu() ? nullptr : made->shadow ? made->shadow->at(0) : made->store.at(0);
    NamedFile &file = made->file;
    const hbf_region handle = regions_.insert(std::move(made));
    file.keep();
    room.keep();
    return {sizeof(hbf_region_info), request.tier, handle, request.size, tier.cpu() ? page_size() : 0, address};
}

void SimInstance::free(hbf_region region) {
    const std::unique_ptr<Region> ended = regions_.take(region);
    if (ended->tier == HBF_TIER_NONE) return;
    std::lock_guard lock(room_mutex_);
    used_[ended->tier] -= ended->taken;
}

hbf_region_info SimInstance::register_host(void *address, uint64_t size) {
    const hbf_region handle = regions_.insert(std::make_unique<Region>(
        Region{HBF_TIER_NONE, size, 0, {}, Store(Mapping::borrowed(address, size), false), std::nullopt, true}));
    return {sizeof(hbf_region_info), HBF_TIER_NONE, handle, size, page_size(), address};
}

std::unique_ptr<sdk::Queue> SimInstance::create_queue(const sdk::QueueRequest &request) {
    return std::make_unique<SimQueue>(engine_, regions_, request.depth ? request.depth : model_.default_depth,
                                      request.commands ? request.commands : model_.queues.max_commands);
}

void SimInstance::describe(uint32_t domain, hbf_domain_info &out) const {
    const DomainModel &model = model_.domains[domain];
    out.protocol = model.protocol;
    out.granule = model.line;
    out.agents = model.agents;
    out.atomic_widths = model.atomic_widths;
    sdk::set_text(out.name, model.name);
    sdk::set_text(out.detail, model.detail);
}

std::vector<hbf_reading> SimInstance::read() {
    return {reading("sim.ecc.corrected", "errors", 0),
            reading("sim.ecc.uncorrected", "errors", counters_.uncorrected.load(std::memory_order_relaxed)),
            reading("sim.link.replays", "errors", 0),
            reading("sim.copies", "copies", counters_.copies.load(std::memory_order_relaxed)),
            reading("sim.launches", "launches", counters_.launches.load(std::memory_order_relaxed)),
            reading("sim.bytes_moved", "B", counters_.bytes_moved.load(std::memory_order_relaxed)),
            reading("sim.temperature", "celsius", 45, HBF_READING_GAUGE)};
}

} // namespace hbf::sim
