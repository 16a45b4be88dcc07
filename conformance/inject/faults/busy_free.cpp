// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <vector>

#include "conformance/inject/fault.hpp"
#include "conformance/inject/touch.hpp"

namespace hbf::inject {
namespace {

// Once the work that made it busy is over, so that nothing writes over it.
class BusyFreeClears final : public Fault {
public:
    using Fault::Fault;

    hbf_status free(hbf_region region, hbf_error *e) override {
        const hbf_status status = below_->free(region, e);
        std::lock_guard lock(mutex_);
        if (status == HBF_BUSY && fires()) busy_.push_back(region);
        return status;
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        const hbf_status status = below_->wait(queue, value, timeout_ns, e);
        if (status != HBF_OK) return status;
        std::lock_guard lock(mutex_);
        for (const hbf_region region : busy_) device().touch().write(region, 0, std::vector<std::byte>(16));
        busy_.clear();
        return status;
    }

private:
    std::mutex mutex_;
    std::vector<hbf_region> busy_;
};
HBF_FAULT(BusyFreeClears, "busy-free-clears-region",
          "a free that says HBF_BUSY clears the region's first bytes all the same");

} // namespace
} // namespace hbf::inject
