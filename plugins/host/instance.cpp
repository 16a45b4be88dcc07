// SPDX-License-Identifier: Apache-2.0
#include "instance.hpp"

#include <bit>
#include <utility>

#include <fmt/format.h>

#include "default_storage.hpp"
#include "text.hpp"

namespace hbf::host {

HostInstance::HostInstance(const HostOptions &options, const sdk::Log &log)
    : log_(log), memory_(discover_memory_tiers(options.memory, log)), workers_(make_worker_pool(options.workers)),
      coherence_(options.memory.system_root), health_(options.memory.system_root) {
    open_storage(options);
}

HostInstance::~HostInstance() {
    regions_.drain([this](HostRegion &region) {
        try {
            if (region.file) region.file->publish();
        } catch (const sdk::Failure &failure) {
            log_.write(HBF_LOG_ERROR, failure.message);
        } catch (...) { // no memory for the message itself
            log_.write(HBF_LOG_ERROR, "a named storage region could not be kept");
        }
        release(region);
    });
}

// A path someone asked for must work; the default directory may fail, and then every memory tier says why.
void HostInstance::open_storage(const HostOptions &options) {
    StorageOptions wanted = options.storage;
    if (!wanted.path.empty()) {
        storage_ = StorageTier::open(wanted, log_);
        return;
    }
    try {
        if (options.memory.system_root != "/")
            sdk::fail(HBF_UNAVAILABLE, "the system root is not this machine's, and storage_path is not set");
        wanted.path = default_storage_directory();
        storage_ = StorageTier::open(wanted, log_);
    } catch (const sdk::Failure &failure) {
        no_storage_ = failure.message;
        log_.warning("no storage tier: " + no_storage_);
    }
}

uint32_t HostInstance::tier_count() const {
    return static_cast<uint32_t>(memory_.size()) + (storage_ ? 1 : 0);
}

void HostInstance::describe_tier(uint32_t tier, hbf_tier_info &out) {
    if (tier >= tier_count()) sdk::fail(HBF_INVALID, fmt::format("no tier {}: this host has {}", tier, tier_count()));
    if (tier == storage_tier()) {
        storage_->describe(out);
        out.coherence_domain = HBF_TIER_NONE;
        out.extended_by = HBF_TIER_NONE;
        return;
    }
    memory_[tier]->describe(out);
    out.coherence_domain = 0;
    // What does not fit goes one step down: near memory to HBF, HBF to storage.
    out.extended_by = storage_tier();
    for (uint32_t other = 0; out.kind == HBF_TIER_HBM && other < memory_.size(); ++other) {
        hbf_tier_info info{};
        info.struct_size = sizeof info;
        memory_[other]->describe(info);
        if (info.kind != HBF_TIER_HBF) continue;
        out.extended_by = other;
        break;
    }
    if (!storage_) add_text(out.detail, "; no storage tier: " + no_storage_);
}

HostRegion HostInstance::alloc_memory(const sdk::AllocRequest &request) {
    if (!request.name.empty())
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("a region in memory cannot have a name (\"{}\"): only storage persists", request.name));
    Mapping mapping = memory_[request.tier]->alloc(request.size, request.alignment, request.pages);
    HostRegion made;
    made.address = mapping.address;
    made.size = request.size;
    made.page_size = mapping.page_size;
    made.tier = request.tier;
    made.mapped = mapping.mapped;
    return made;
}

HostRegion HostInstance::alloc_storage(const sdk::AllocRequest &request) {
    if (request.pages != HBF_PAGES_DEFAULT) sdk::fail(HBF_UNAVAILABLE, "storage has no memory pages: ask for the default");
    HostRegion made;
    made.file = storage_->create(request.size, request.name, request.open_existing);
    made.size = request.size;
    made.tier = request.tier;
    return made;
}

hbf_region_info HostInstance::alloc(const sdk::AllocRequest &request) {
    if (request.tier >= tier_count())
        sdk::fail(HBF_INVALID, fmt::format("no tier {}: this host has {}", request.tier, tier_count()));
    if (request.size == 0) sdk::fail(HBF_INVALID, "a region of zero bytes");
    if (request.alignment != 0 && !std::has_single_bit(request.alignment))
        sdk::fail(HBF_INVALID, fmt::format("alignment {} is not a power of two", request.alignment));
    return insert(request.tier == storage_tier() ? alloc_storage(request) : alloc_memory(request));
}

hbf_region_info HostInstance::register_host(void *address, uint64_t size) {
    auto begin = reinterpret_cast<uintptr_t>(address);
    if (!address || size == 0 || begin + size < begin)
        sdk::fail(HBF_INVALID, fmt::format("not a range of memory: {} bytes at {}", size, address));
    HostRegion made;
    made.address = static_cast<std::byte *>(address);
    made.size = size;
    return insert(std::move(made));
}

hbf_region_info HostInstance::insert(HostRegion &&made) {
    hbf_region_info info{};
    info.struct_size = sizeof info;
    info.tier = made.tier;
    info.size = made.size;
    info.page_size = made.page_size;
    info.address = made.address;
    HostRegion undo = made; // what a full table leaves to give back
    try {
        if (storage_ && made.address) storage_->register_memory(made.address, made.size);
        info.region = regions_.insert(std::move(made));
    } catch (...) {
        release(undo);
        throw;
    }
    return info;
}

void HostInstance::free(hbf_region region) {
    // A region that cannot get its name, or cannot be written back, stays: its owner may still make room, or copy it away.
    HostRegion taken = regions_.take(region, [](HostRegion &kept) {
        if (kept.file) kept.file->publish();
    });
    release(taken);
}

void HostInstance::release(HostRegion &region) noexcept {
    if (storage_ && region.address) storage_->unregister_memory(region.address);
    if (region.mapped) memory_[region.tier]->free({region.address, region.mapped, region.page_size});
    region.file.reset();
}

std::unique_ptr<sdk::Queue> HostInstance::create_queue(const sdk::QueueRequest &request) {
    return make_host_queue(request, regions_, storage_.get(), workers_);
}

} // namespace hbf::host
