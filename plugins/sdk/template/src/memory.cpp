// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <string>
#include <utility>

#include <unistd.h>

#include "about.hpp"
#include "hbf/sdk/text.hpp"
#include "queue.hpp"

namespace plugin {

using hbf::sdk::fail;

void Memory::describe_tier(uint32_t, hbf_tier_info &out) {
    out.kind = HBF_TIER_HBF;
    out.media = HBF_MEDIA_DRAM;
    out.reality = about::emulated ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
    out.access = HBF_ACCESS_CPU | HBF_ACCESS_DMA;
    out.numa_node = -1; // not known; never a guess
    out.coherence_domain = HBF_DOMAIN_NONE;
    out.extended_by = HBF_TIER_NONE;
    out.capacity = capacity_;
    out.available = capacity_ - used_;
    out.granule = out.alignment = out.copy_alignment = granule;
    hbf::sdk::set_text(out.name, std::string(about::name) + "0");
    hbf::sdk::set_text(out.detail, "ordinary memory of this process");
}

// Many threads may ask at once: what two of them take together never exceeds the capacity.
void Memory::take(uint64_t bytes) {
    uint64_t used = used_;
    do {
        if (bytes > capacity_ - used)
            fail(HBF_EXHAUSTED, "the tier is full: " + std::to_string(bytes) + " bytes are asked for, " +
                                    std::to_string(capacity_ - used) + " of " + std::to_string(capacity_) + " are free");
    } while (!used_.compare_exchange_weak(used, used + bytes));
}

hbf_region_info Memory::alloc(const hbf::sdk::AllocRequest &request) {
    if (!request.name.empty()) fail(HBF_UNSUPPORTED, "this tier forgets its regions: it takes no names");
    if (request.pages != HBF_PAGES_DEFAULT) fail(HBF_UNAVAILABLE, "page sizes cannot be chosen here");
    if (request.alignment > granule) fail(HBF_UNSUPPORTED, "alignment over 64 KiB");
    const uint64_t taken = request.size > capacity_ ? request.size : (request.size + granule - 1) / granule * granule;
    take(taken);
    try {
        auto memory = std::make_unique<std::byte[]>(taken + granule); // zeroed: nobody sees what another one left
        auto *const address = memory.get() + (granule - reinterpret_cast<uintptr_t>(memory.get()) % granule);
        hbf_region_info info{};
        info.tier = request.tier;
        info.region = regions_.insert({std::move(memory), address, request.size, taken});
        info.size = request.size;
        info.page_size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
        info.address = address;
        return info;
    } catch (...) {
        used_ -= taken;
        throw;
    }
}

void Memory::free(hbf_region region) {
    used_ -= regions_.take(region).taken; // the table refuses a stale handle, and one that work in flight names
}

hbf_queue_info Memory::queue_info() const {
    hbf_queue_info info{};
    info.visibility = HBF_VISIBLE_DEVICE | HBF_VISIBLE_HOST;
    info.max_depth = 64;
    info.max_commands = 1024;
    info.max_queues = 64;
    return info;
}

std::unique_ptr<hbf::sdk::Queue> Memory::create_queue(const hbf::sdk::QueueRequest &request) {
    return std::make_unique<Queue>(regions_, request.commands ? request.commands : queue_info().max_commands);
}

} // namespace plugin
