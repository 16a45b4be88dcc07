// SPDX-License-Identifier: Apache-2.0
// The memory tiers of a device, and the making of regions in them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "hbf/sdk/instance.hpp"
#include "plugins/cambricon/device_facts.hpp"
#include "plugins/cambricon/memory/region.hpp"
#include "plugins/cambricon/options.hpp"

namespace hbf::cambricon {

struct Tier {
    Sort sort;
    const char *name;
    hbf_tier_kind kind;
    hbf_media media;
    uint32_t access, domain, extended_by;
    uint64_t capacity;
    std::string detail;
};

// The caller has the device as its thread's current one.
class Tiers {
public:
    static constexpr uint32_t count = 2, pinned_domain = 0;

    Tiers(const Cnrt &cnrt, const DeviceFacts &facts, const CambriconOptions &options); // throws
    ~Tiers();
    Tiers(const Tiers &) = delete;
    Tiers &operator=(const Tiers &) = delete;

    void describe(uint32_t tier, hbf_tier_info &out);
    std::unique_ptr<Region> make(const sdk::AllocRequest &request); // zeroed; throws
    void end(Region &region) noexcept;                              // gives its memory back
    std::chrono::milliseconds patience{30000};                      // how long zeroing is waited for, each GiB of it

private:
    void allocate(Region &region, const Tier &tier, uint64_t bytes, uint64_t alignment);
    void zero(Region &region, uint64_t bytes);
    void wait_aside();
    void free(Region &region) noexcept;

    const Cnrt &cnrt_;
    const DeviceFacts facts_;
    std::array<Tier, count> tiers_;
    std::mutex mutex_;
    std::array<uint64_t, count> used_{}; // bytes of each tier
    std::mutex aside_mutex_;             // of aside_
    CnrtQueue aside_ = nullptr;          // everything in it is waited for
    std::atomic<bool> stuck_{false};     // or it did not end: then the queue, and what it writes to, stay
};

} // namespace hbf::cambricon
