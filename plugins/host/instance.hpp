// SPDX-License-Identifier: Apache-2.0
// The host as a device: memory tiers, a storage tier, and the regions in them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coherence.hpp"
#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "health.hpp"
#include "memory/memory_tier.hpp"
#include "options.hpp"
#include "queue/host_queue.hpp"
#include "region.hpp"
#include "storage/storage_tier.hpp"

namespace hbf::host {

class HostInstance final : public sdk::Instance {
public:
    HostInstance(const HostOptions &options, const sdk::Log &log);
    ~HostInstance() override;

    uint32_t tier_count() const override;
    void describe_tier(uint32_t tier, hbf_tier_info &out) override;
    hbf_region_info alloc(const sdk::AllocRequest &request) override;
    // Of a named storage region: makes it durable and gives it its name, and fails if that fails.
    void free(hbf_region region) override;
    bool can_register_host() const override { return true; }
    hbf_region_info register_host(void *address, uint64_t size) override;

    hbf_queue_info queue_info() const override { return host_queue_info(); }
    std::unique_ptr<sdk::Queue> create_queue(const sdk::QueueRequest &request) override;

    sdk::Coherence *coherence() override { return &coherence_; }
    sdk::Health *health() override { return &health_; }

private:
    void open_storage(const HostOptions &options);
    uint32_t storage_tier() const { return storage_ ? static_cast<uint32_t>(memory_.size()) : HBF_TIER_NONE; }
    HostRegion alloc_memory(const sdk::AllocRequest &request);
    HostRegion alloc_storage(const sdk::AllocRequest &request);
    hbf_region_info insert(HostRegion &&made);
    void release(HostRegion &region) noexcept;

    sdk::Log log_;
    std::vector<std::unique_ptr<MemoryTier>> memory_;
    std::unique_ptr<StorageTier> storage_;
    std::string no_storage_; // why there is none
    RegionTable regions_;
    std::shared_ptr<WorkerPool> workers_;
    HostCoherence coherence_;
    HostHealth health_;
};

} // namespace hbf::host
