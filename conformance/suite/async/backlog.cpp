// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/async/backlog.hpp"

#include <algorithm>
#include <cmath>

#include "conformance/measure/clock.hpp"

namespace hbf::conformance {
namespace {

// More than an executor that does short work inside submit takes for short.
constexpr uint64_t copy_size = 4u << 20;
constexpr uint32_t most_copies = 256;

uint32_t commands_for(const Instance &device) {
    return std::min(device.queue_info().max_commands, 2 * most_copies);
}

} // namespace

Backlog::Backlog(const Instance &device, double seconds)
    : device_(&device), regions_(device), src_(regions_.make(device.dma_tiers().at(0), copy_size)),
      dst_(regions_.make(device.dma_tiers().at(0), copy_size)), queue_(device, 0, commands_for(device)) {
    const hbf_command copy = copy_command(dst_.region, 0, src_.region, 0, copy_size);
    device.must_run(queue_, {fill_command(src_.region, 0, copy_size, 0x5a, 1)});
    device.must_run(queue_, {copy}); // first touch is not work that repeats
    double one = 1e9;
    for (int i = 0; i < 3; ++i) { // the fastest: what it must last is a lower bound
        const auto begin = measure::Clock::now();
        device.must_run(queue_, {copy});
        one = std::min(one, measure::seconds_between(begin, measure::Clock::now()));
    }
    const double most = commands_for(device) / 2;
    const auto copies =
        static_cast<uint32_t>(std::clamp(std::ceil(seconds / std::max(one, 1e-6)), 1.0, std::max(1.0, most)));
    for (uint32_t i = 0; i < copies; ++i) {
        if (i) batch_.push_back(barrier_command());
        batch_.push_back(copy);
    }
    expected_s_ = one * copies;
}

uint64_t Backlog::add() {
    return device_->must_submit(queue_, batch_);
}

std::optional<uint64_t> Backlog::add_pending() {
    for (int i = 0; i < 10; ++i) {
        const uint64_t value = add();
        if (pending(value)) return value;
    }
    return std::nullopt;
}

void nothing_pending(Context &context) {
    context.not_observable(
        "every batch was done by the time submit returned: nothing was ever seen pending; it would need a "
        "device that works while its host goes on");
}

} // namespace hbf::conformance
