// SPDX-License-Identifier: Apache-2.0
// One opened HIP device.
#pragma once

#include <memory>

#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/amd/discovery.hpp"
#include "plugins/amd/health.hpp"
#include "plugins/amd/memory/tiers.hpp"
#include "plugins/amd/options.hpp"
#include "plugins/stream/instance.hpp"

namespace hbf::amd {

class AmdInstance final : public stream::Instance, sdk::Coherence {
public:
    AmdInstance(const DeviceFacts &facts, const Found &found, const Survey &all, const AmdOptions &options,
                const std::string &root, const sdk::Log &log);
    ~AmdInstance() override;

    uint32_t tier_count() const override { return tiers_->count(); }
    void describe_tier(uint32_t tier, hbf_tier_info &out) override { tiers_->describe(tier, out); }
    sdk::Coherence *coherence() override { return this; }
    sdk::Health *health() override { return health_.get(); }
    uint32_t domain_count() const override { return tiers_->domain_count(); }
    void describe(uint32_t domain, hbf_domain_info &out) const override { tiers_->describe_domain(domain, out); }

protected:
    std::unique_ptr<stream::Region> make(const sdk::AllocRequest &request) override { return tiers_->make(request); }
    std::unique_ptr<stream::Region> make_registered(void *address, uint64_t size) override {
        return tiers_->make_registered(address, size);
    }
    std::unique_ptr<stream::StreamApi> make_stream() override;

private:
    const DeviceFacts facts_;
    std::unique_ptr<Health> health_;
    std::unique_ptr<Tiers> tiers_;
};

} // namespace hbf::amd
