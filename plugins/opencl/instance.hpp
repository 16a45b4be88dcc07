// SPDX-License-Identifier: Apache-2.0
// One opened OpenCL device.
#pragma once

#include <memory>

#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/opencl/context.hpp"
#include "plugins/opencl/discovery.hpp"
#include "plugins/opencl/kernels/device_kernels.hpp"
#include "plugins/opencl/memory/tiers.hpp"
#include "plugins/opencl/options.hpp"

namespace hbf::opencl {

class OpenClInstance final : public sdk::Instance, sdk::Coherence {
public:
    OpenClInstance(const OpenedDevice &device, const OpenClOptions &options, const sdk::Log &log);
    ~OpenClInstance() override;

    uint32_t tier_count() const override { return tiers_.count(); }
    void describe_tier(uint32_t tier, hbf_tier_info &out) override { tiers_.describe(tier, out); }
    hbf_region_info alloc(const sdk::AllocRequest &request) override;
    void free(hbf_region region) override;
    bool can_register_host() const override { return true; }
    hbf_region_info register_host(void *address, uint64_t size) override;

    hbf_queue_info queue_info() const override;
    std::unique_ptr<sdk::Queue> create_queue(const sdk::QueueRequest &request) override;

    sdk::Coherence *coherence() override { return this; }
    sdk::Kernels *kernels() override { return kernels_.get(); }
    uint32_t domain_count() const override { return tiers_.shares_memory() ? 2 : 1; }
    void describe(uint32_t domain, hbf_domain_info &out) const override { tiers_.describe_domain(domain, out); }

private:
    Context context_;
    Tiers tiers_;
    std::unique_ptr<DeviceKernels> kernels_; // nullptr: the device has no compiler
    Regions regions_;
};

} // namespace hbf::opencl
