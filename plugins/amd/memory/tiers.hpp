// SPDX-License-Identifier: Apache-2.0
// The tiers of an opened device, and the making of regions in them.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/amd/aside.hpp"
#include "plugins/amd/memory/blocks.hpp"
#include "plugins/amd/memory/plan.hpp"
#include "plugins/stream/region.hpp"

namespace hbf::amd {

class Tiers {
public:
    // Tries a small block of each tier first: throws UNSUPPORTED where the runtime says that its coherence class is another
    // one than was asked for. Running on under the wrong one is the worst failure there is. A tier of CXL or a peer's memory
    // that has not even a small block is left out, with a warning.
    Tiers(const DeviceFacts &facts, std::vector<Tier> tiers, const sdk::Log &log);

    uint32_t count() const { return static_cast<uint32_t>(tiers_.size()); }
    void describe(uint32_t tier, hbf_tier_info &out);
    uint32_t domain_count() const { return has_cxl_ ? 2 : 1; }
    void describe_domain(uint32_t domain, hbf_domain_info &out) const;

    std::unique_ptr<stream::Region> make(const sdk::AllocRequest &request); // cleared; throws
    std::unique_ptr<stream::Region> make_registered(void *address, uint64_t size) const;

    class Share;

private:
    std::unique_ptr<Block> block(const Tier &tier, uint64_t size) const;
    void check_request(const Tier &tier, const sdk::AllocRequest &request) const;
    bool try_out(const Tier &tier, const sdk::Log &log);
    void verify(const Tier &tier, const std::byte *at, const sdk::Log &log);
    uint64_t free_of(const Tier &tier) const; // bytes, as the runtime says; UINT64_MAX: it does not

    const int device_;
    const bool emulated_;
    std::vector<Tier> tiers_;
    bool has_cxl_ = false;
    std::string domain_words_[2]; // how each domain's protocol was established
    Aside aside_;
    std::mutex mutex_;
    std::vector<uint64_t> used_; // bytes of each tier
};

} // namespace hbf::amd
