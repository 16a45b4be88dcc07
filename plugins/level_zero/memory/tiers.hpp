// SPDX-License-Identifier: Apache-2.0
// The memory tiers of a Level Zero device, and the making of regions in them.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "hbf/abi/coherence.h"
#include "hbf/sdk/instance.hpp"
#include "plugins/level_zero/context.hpp"
#include "plugins/level_zero/options.hpp"
#include "plugins/stream/region.hpp"

namespace hbf::level_zero {

enum class Sort : uint8_t {
    device,     // the device's own memory
    pinned,     // the host's, allocated by the driver for devices to reach
    shared,     // goes to whoever touches it
    registered, // the caller's memory
};

struct ZeRegion;

struct Tier {
    Sort sort;
    const char *name;
    hbf_tier_kind kind;
    hbf_media media;
    bool cpu;
    uint32_t extended_by;
    uint64_t capacity;
    std::string detail;
};

class Tiers {
public:
    Tiers(Context &context, const Options &options, uint64_t host_bytes, int node, const sdk::Log &log);

    uint32_t count() const { return static_cast<uint32_t>(tiers_.size()); }
    void describe(uint32_t tier, hbf_tier_info &out);
    uint32_t domain_count() const { return shares_ ? 1 : 0; }
    void describe_domain(uint32_t domain, hbf_domain_info &out) const;
    std::unique_ptr<ZeRegion> make(const sdk::AllocRequest &request); // zeroed; throws

private:
    friend struct ZeRegion;
    void *allocate(const Tier &tier, uint64_t bytes, uint64_t alignment);

    Context &context_;
    const int node_;
    bool shares_ = false; // a tier that the CPU sees
    std::vector<Tier> tiers_;
    std::mutex mutex_;
    std::vector<uint64_t> used_; // bytes of each tier
};

struct ZeRegion final : stream::Region {
    Sort sort = Sort::registered;
    Tiers *owner = nullptr; // of its share; nullptr: none
    void *block = nullptr;  // the driver's; nullptr: the caller's
    uint64_t taken = 0;
    ~ZeRegion() override;
};

} // namespace hbf::level_zero
