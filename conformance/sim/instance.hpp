// SPDX-License-Identifier: Apache-2.0
// One opened simulated device.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "conformance/sim/engine.hpp"
#include "conformance/sim/model.hpp"
#include "conformance/sim/options.hpp"
#include "hbf/sdk/instance.hpp"

namespace hbf::sim {

class SimInstance final : public sdk::Instance, sdk::Coherence, sdk::Kernels, sdk::Health {
public:
    explicit SimInstance(SimOptions options);

    uint32_t tier_count() const override { return static_cast<uint32_t>(model_.tiers.size()); }
    void describe_tier(uint32_t tier, hbf_tier_info &out) override;
    hbf_region_info alloc(const sdk::AllocRequest &request) override;
    void free(hbf_region region) override;
    bool can_register_host() const override { return true; }
    hbf_region_info register_host(void *address, uint64_t size) override;

    hbf_queue_info queue_info() const override { return model_.queues; }
    std::unique_ptr<sdk::Queue> create_queue(const sdk::QueueRequest &request) override;

    sdk::Coherence *coherence() override { return this; }
    sdk::Kernels *kernels() override { return this; }
    sdk::Health *health() override { return this; }
    uint32_t domain_count() const override { return static_cast<uint32_t>(model_.domains.size()); }
    void describe(uint32_t domain, hbf_domain_info &out) const override;
    uint32_t kernel_count() const override { return sim::kernel_count(); }
    std::string_view kernel_name(uint32_t index) const override { return sim::kernel_name(index); }
    void find(std::string_view name, hbf_kernel_info &out) override { find_kernel(name, out); }
    std::vector<hbf_reading> read() override;

private:
    std::unique_ptr<Region> make_region(const sdk::AllocRequest &request, uint64_t bytes);

    const SimOptions options_;
    const Model model_;
    std::mutex room_mutex_;
    std::vector<uint64_t> used_; // bytes of each tier
    Counters counters_;
    Regions regions_;
    Engine engine_; // ends before the regions do
};

} // namespace hbf::sim
