// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/device.hpp"

#include "conformance/sim/model/parts.hpp"

namespace hbf::model {

Device::Device(Machine &machine, int index, const ProfileDevice &profile)
    : machine_(machine), index_(index), profile_(profile) {
    for (const auto &[name, value] : profile.counters)
        if (const auto counter = counter_named(name)) health_.set(*counter, value);
    if (!machine.faults().on(Fault::throttle, index)) return;
    health_.set(Counter::throttled, 1);
    health_.set(Counter::throttle_ms, 60'000);
    health_.set(Counter::temperature_c, 93);
    health_.set(Counter::clock_mhz, health_.get(Counter::max_clock_mhz) / 3);
}

Device::~Device() = default;

int64_t Device::attribute(int64_t number, int64_t otherwise) const {
    const auto found = profile_.attributes.find(number);
    return found == profile_.attributes.end() ? otherwise : found->second;
}

std::string Device::text(const std::string &key, const std::string &otherwise) const {
    const auto found = profile_.texts.find(key);
    return found == profile_.texts.end() ? otherwise : found->second;
}

void Device::break_with(Outcome outcome) noexcept {
    Outcome none = Outcome::ok;
    status_.compare_exchange_strong(none, outcome);
}

void Device::mend() noexcept {
    Outcome broken = status_.load();
    while (broken != Outcome::ok && broken != Outcome::lost && !status_.compare_exchange_weak(broken, Outcome::ok)) {
    }
}

void Device::unplug() noexcept {
    if (status_.exchange(Outcome::lost) == Outcome::lost) return;
    machine_.parts().engines->end_all(index_);
}

Stream &Device::default_stream() {
    if (Stream *const made = default_stream_.load(std::memory_order_acquire)) return *made;
    Machine::Parts &parts = machine_.parts();
    const std::lock_guard lock(parts.mutex);
    if (Stream *const made = default_stream_.load(std::memory_order_acquire)) return *made;
    StreamOptions options;
    options.waits_for_default = false;
    auto lane = std::make_shared<Stream::Parts>(machine_, index_, options);
    lane->is_default = true;
    parts.engines->add(lane);
    auto stream = std::make_unique<Stream>(std::move(lane));
    Stream *const at = stream.get();
    parts.default_streams.push_back(std::move(stream));
    default_stream_.store(at, std::memory_order_release);
    return *at;
}

Outcome Device::synchronize(uint64_t timeout_ns) {
    Engines &engines = *machine_.parts().engines;
    if (!machine_.faults().fires(Fault::sync_early, index_) && !engines.wait_device(index_, timeout_ns))
        return Outcome::pending;
    return engines.device_outcome(index_);
}

} // namespace hbf::model
