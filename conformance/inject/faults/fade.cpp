// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "conformance/inject/data_fault.hpp"
#include "conformance/inject/random.hpp"
#include "conformance/inject/timer.hpp"

namespace hbf::inject {
namespace {

// The bytes were right when they arrived. Some time later, with nobody writing, a bit of each region written is not.
class BitFade final : public DataFault {
public:
    using DataFault::DataFault;

    void change(const Hit &hit) override {
        {
            std::lock_guard lock(mutex_);
            resting_[hit.written.region] = hit.written;
        }
        timer_.at(Timer::Clock::now() + std::chrono::milliseconds(settings().number("ms")));
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        std::lock_guard lock(mutex_);
        resting_.erase(region);
        return below_->free(region, e);
    }
    void destroy() override {
        timer_.end();
        below_->destroy();
    }

private:
    void fade() {
        std::lock_guard lock(mutex_);
        for (const auto &[region, where] : resting_) {
            const uint64_t bit = random_.below(where.size * 8);
            edit({region, where.offset + bit / 8, 1}, [&](uint64_t, std::span<std::byte> byte) {
                byte[0] ^= std::byte(1u << bit % 8);
                return true;
            });
        }
        resting_.clear();
    }

    std::mutex mutex_;
    std::map<hbf_region, Span> resting_; // written last, in each region
    Random random_{seed()};
    Timer timer_{[this] { fade(); }};
};
HBF_FAULT(BitFade, "bit-fade", "a bit of what was written changes after a time", parameter::tier,
          {.key = "ms", .preset = "100", .line = "milliseconds after the last write"});

} // namespace
} // namespace hbf::inject
