// SPDX-License-Identifier: Apache-2.0
// What the instances of plugins with streams have in common: regions in a table, queues over streams, kernels by name. A
// plugin derives from it and says what its tiers are.
//
//     class CudaInstance final : public stream::Instance {
//         uint32_t tier_count() const override; void describe_tier(uint32_t, hbf_tier_info &) override; // sdk's
//         std::unique_ptr<stream::Region> make(const sdk::AllocRequest &) override;
//         std::unique_ptr<stream::StreamApi> make_stream() override;
//     };
#pragma once

#include <memory>
#include <utility>

#include "hbf/sdk/instance.hpp"
#include "plugins/stream/kernel_table.hpp"
#include "plugins/stream/queue.hpp"
#include "plugins/stream/region.hpp"
#include "plugins/stream/stream_api.hpp"

namespace hbf::stream {

class Instance : public sdk::Instance {
public:
    hbf_region_info alloc(const sdk::AllocRequest &request) final;
    void free(hbf_region region) final { (void)regions_.take(region); }
    bool can_register_host() const final { return true; }
    hbf_region_info register_host(void *address, uint64_t size) final;
    hbf_queue_info queue_info() const final;
    std::unique_ptr<sdk::Queue> create_queue(const sdk::QueueRequest &request) final;
    sdk::Kernels *kernels() final { return kernels_.get(); }
    uint64_t end_patience_ns() const final { return end_patience; }

    uint64_t end_patience = 60'000'000'000; // ns

protected:
    // A new region of a tier, its bytes nobody else's; and one over the caller's memory. Throw sdk::Failure.
    virtual std::unique_ptr<Region> make(const sdk::AllocRequest &request) = 0;
    virtual std::unique_ptr<Region> make_registered(void *address, uint64_t size) = 0;
    virtual std::unique_ptr<StreamApi> make_stream() = 0;

    // In the constructor, for a device that runs kernels.
    void serve_kernels(std::unique_ptr<KernelTable> kernels) { kernels_ = std::move(kernels); }
    void set_limits(const QueueLimits &limits) { limits_ = limits; }
    // At the beginning of the derived destructor: regions and kernels end while what they were taken from is still there.
    void end() {
        regions_.drain([](std::unique_ptr<Region> &) {});
        kernels_.reset();
    }

private:
    Regions regions_;
    std::unique_ptr<KernelTable> kernels_;
    QueueLimits limits_;
};

} // namespace hbf::stream
