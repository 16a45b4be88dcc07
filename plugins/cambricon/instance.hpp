// SPDX-License-Identifier: Apache-2.0
// One opened MLU.
#pragma once

#include <memory>

#include "hbf/sdk/log.hpp"
#include "plugins/cambricon/discovery.hpp"
#include "plugins/cambricon/health.hpp"
#include "plugins/cambricon/memory/tiers.hpp"
#include "plugins/stream/instance.hpp"

namespace hbf::cambricon {

class CambriconInstance final : public stream::Instance, sdk::Coherence {
public:
    CambriconInstance(const Library &library, const DeviceFacts &facts, const CambriconOptions &options,
                      const sdk::Log &log);
    ~CambriconInstance() override;

    uint32_t tier_count() const override { return Tiers::count; }
    void describe_tier(uint32_t tier, hbf_tier_info &out) override { tiers_->describe(tier, out); }
    sdk::Coherence *coherence() override { return this; }
    sdk::Health *health() override { return health_.get(); }
    uint32_t domain_count() const override { return 1; }
    void describe(uint32_t domain, hbf_domain_info &out) const override;

protected:
    std::unique_ptr<stream::Region> make(const sdk::AllocRequest &request) override;
    std::unique_ptr<stream::Region> make_registered(void *address, uint64_t size) override;
    std::unique_ptr<stream::StreamApi> make_stream() override;

private:
    void must_be_current() const;

    const Cnrt &cnrt_;
    const DeviceFacts facts_;
    std::unique_ptr<Tiers> tiers_;
    std::unique_ptr<CambriconHealth> health_; // nullptr: there is no CNDev
};

} // namespace hbf::cambricon
