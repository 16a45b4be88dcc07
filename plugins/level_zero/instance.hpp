// SPDX-License-Identifier: Apache-2.0
// One opened Level Zero device.
#pragma once

#include <memory>

#include "plugins/level_zero/context.hpp"
#include "plugins/level_zero/health.hpp"
#include "plugins/level_zero/kernels/loader.hpp"
#include "plugins/level_zero/memory/tiers.hpp"
#include "plugins/stream/instance.hpp"

namespace hbf::level_zero {

class ZeInstance final : public stream::Instance, sdk::Coherence {
public:
    ZeInstance(const Functions &ze, const Opened &opened, const Options &options, uint64_t host_bytes, int node,
               const sdk::Log &log);
    ~ZeInstance() override { end(); }

    uint32_t tier_count() const override { return tiers_.count(); }
    void describe_tier(uint32_t tier, hbf_tier_info &out) override { tiers_.describe(tier, out); }
    sdk::Coherence *coherence() override { return tiers_.domain_count() != 0 ? this : nullptr; }
    sdk::Health *health() override { return health_.get(); }
    uint32_t domain_count() const override { return tiers_.domain_count(); }
    void describe(uint32_t domain, hbf_domain_info &out) const override { tiers_.describe_domain(domain, out); }

protected:
    std::unique_ptr<stream::Region> make(const sdk::AllocRequest &request) override { return tiers_.make(request); }
    std::unique_ptr<stream::Region> make_registered(void *address, uint64_t size) override;
    std::unique_ptr<stream::StreamApi> make_stream() override;

private:
    Context context_;
    const bool copy_engine_;
    Tiers tiers_;
    std::unique_ptr<SysmanHealth> health_;
    KernelModules *modules_ = nullptr; // the kernel table's
};

} // namespace hbf::level_zero
