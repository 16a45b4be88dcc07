// SPDX-License-Identifier: Apache-2.0
// One opened NVIDIA device.
#pragma once

#include <memory>

#include "hbf/sdk/log.hpp"
#include "plugins/nvidia/context.hpp"
#include "plugins/nvidia/health/health.hpp"
#include "plugins/nvidia/memory/tiers.hpp"
#include "plugins/nvidia/options.hpp"
#include "plugins/nvidia/queue/cuda_stream.hpp"
#include "plugins/stream/instance.hpp"

namespace hbf::nvidia {

class NvidiaInstance final : public stream::Instance, sdk::Coherence {
public:
    // `node`: the host's nearest, `host_bytes`: the host's memory.
    NvidiaInstance(const Driver &cuda, const DeviceFacts &facts, const Options &options, int node, uint64_t host_bytes,
                   const sdk::Log &log);
    ~NvidiaInstance() override;

    uint32_t tier_count() const override { return tiers_->count(); }
    void describe_tier(uint32_t tier, hbf_tier_info &out) override;
    sdk::Coherence *coherence() override { return tiers_->has_domain() ? this : nullptr; }
    sdk::Health *health() override { return health_.get(); }
    uint32_t domain_count() const override { return 1; }
    void describe(uint32_t, hbf_domain_info &out) const override { tiers_->describe_domain(out); }

protected:
    std::unique_ptr<stream::Region> make(const sdk::AllocRequest &request) override { return tiers_->make(request); }
    std::unique_ptr<stream::Region> make_registered(void *address, uint64_t size) override {
        return tiers_->make_registered(address, size);
    }
    std::unique_ptr<stream::StreamApi> make_stream() override;

private:
    void set_l2_aside(const Options &options);
    void open_storage(const Options &options);

    const sdk::Log log_;
    Context context_;
    std::unique_ptr<NvmlHealth> health_;
    std::unique_ptr<FileStore> store_; // nullptr: no storage tier
    std::unique_ptr<Tiers> tiers_;
    StreamChoices choices_;
    size_t l2_before_ = 0; // the context's limit, as it was
};

} // namespace hbf::nvidia
