// SPDX-License-Identifier: Apache-2.0
// The memory tiers of a device, and the making of regions in them: its own memory, that of its peers, pinned memory.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hbf/sdk/instance.hpp"
#include "plugins/nvidia/memory/blocks.hpp"
#include "plugins/nvidia/options.hpp"
#include "plugins/nvidia/peers/peers.hpp"
#include "plugins/nvidia/storage/file_store.hpp"
#include "plugins/stream/region.hpp"

namespace hbf::nvidia {

enum class Sort : uint8_t { device, peer, pinned, file };

struct Tier {
    Sort sort = Sort::device;
    std::string name, detail;
    hbf_tier_kind kind = HBF_TIER_HBM;
    hbf_media media = HBF_MEDIA_UNKNOWN;
    uint32_t flags = 0, access = 0, domain = HBF_DOMAIN_NONE, extended_by = HBF_TIER_NONE;
    int node = -1;
    cuda::Device home = 0; // whose memory
    bool mapped = false;   // by virtual memory management
    uint64_t capacity = 0, granule = 0, alignment = 0, most_alignment = 0;
};

struct HostMemory {
    int node = -1;       // the nearest to the device, -1 unknown
    uint64_t bytes = 0;  // the host's
    std::string trouble; // why the device reaches none of it: then there is no tier in it
};

class Tiers {
public:
    // `store`: the storage tier's file, nullptr: there is none.
    Tiers(Context &context, const Options &options, const std::vector<Peer> &peers, const HostMemory &host,
          FileStore *store);

    uint32_t count() const { return static_cast<uint32_t>(tiers_.size()); }
    const Tier &tier(uint32_t index) const { return tiers_[index]; }
    void describe(uint32_t tier, hbf_tier_info &out);
    bool has_domain() const { return context_.facts.host_register && host_.trouble.empty(); } // that of pinned memory
    void describe_domain(hbf_domain_info &out) const;

    std::unique_ptr<stream::Region> make(const sdk::AllocRequest &request); // zeroed; throws
    std::unique_ptr<stream::Region> make_registered(void *address, uint64_t size);

private:
    friend struct TierRegion;
    void add_device(const Options &options);
    void add_peers(const Options &options, const std::vector<Peer> &peers);
    void add_pinned(const Options &options);
    void add_file();
    void take(uint32_t tier, uint64_t bytes); // throws EXHAUSTED
    void give_back(uint32_t tier, uint64_t bytes) noexcept;

    Context &context_;
    const HostMemory host_;
    FileStore *const store_;
    std::vector<Tier> tiers_;
    std::mutex mutex_;
    std::vector<uint64_t> used_; // bytes of each tier
};

} // namespace hbf::nvidia
