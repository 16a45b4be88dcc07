// SPDX-License-Identifier: Apache-2.0
#include "plugins/stream/lane.hpp"

#include <utility>

#include <fmt/format.h>

namespace hbf::stream {

class Lane::Retiring {
public:
    explicit Retiring(Lane &lane) noexcept : lane_(lane), mine_(!lane.retiring_.exchange(true, std::memory_order_acquire)) {}
    ~Retiring() {
        if (mine_) lane_.retiring_.store(false, std::memory_order_release);
    }
    Retiring(const Retiring &) = delete;
    Retiring &operator=(const Retiring &) = delete;
    explicit operator bool() const { return mine_; }

private:
    Lane &lane_;
    const bool mine_;
};

Lane::Lane(Regions &regions, uint32_t depth, uint32_t commands, uint32_t pins)
    : regions_(regions), depth_(depth), waits_(new Wait[size_t{depth} * commands]),
      pins_(new hbf_region[size_t{depth} * pins]), slots_(new Slot[depth]) {
    for (size_t i = 0; i < depth; ++i) {
        slots_[i].waits = waits_.get() + i * commands;
        slots_[i].pins = {pins_.get() + i * pins, 0, pins};
    }
}

void Lane::begin(StreamApi &api) {
    const Entered entered(api);
    for (size_t i = 0; i < depth_; ++i) {
        try {
            slots_[i].event = api.make_event();
        } catch (...) {
            while (i > 0) api.destroy_event(std::exchange(slots_[--i].event, nullptr));
            throw;
        }
    }
    api_ = &api;
}

bool Lane::full() noexcept {
    const uint64_t submitted = submitted_.load(std::memory_order_relaxed);
    if (submitted - completed() < depth_) return false;
    retire();
    return submitted - completed() >= depth_;
}

uint64_t Lane::publish() noexcept {
    const uint64_t value = submitted_.load(std::memory_order_relaxed) + 1;
    submitted_.store(value, std::memory_order_release);
    return value;
}

sdk::Progress Lane::progress() const noexcept {
    sdk::Progress result;
    result.completed = completed();
    result.failed = failed_.load(std::memory_order_acquire);
    if (result.failed > result.completed) result.failed = 0; // recorded, its value is about to complete
    if (result.failed != 0) result.status = status_.load(std::memory_order_relaxed);
    return result;
}

std::optional<sdk::Failure> Lane::failure() const {
    if (progress().failed == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return failure_;
}

void Lane::retire() noexcept {
    // Again where something was published while the flag was held: its submitter, or whoever waits, looked and left.
    const Retiring retiring(*this);
    if (!retiring) return;
    for (;;) {
        const uint64_t value = completed_.load(std::memory_order_relaxed) + 1;
        if (value > submitted_.load(std::memory_order_acquire)) return;
        Slot &slot = this->slot(value);
        std::optional<sdk::Failure> failure;
        try {
            if (look(slot, failure) == State::pending) return;
        } catch (...) { // no memory for a message
            failure.emplace(sdk::Failure{HBF_INTERNAL, {}});
        }
        complete(value, slot, std::move(failure));
    }
}

Lane::State Lane::look(Slot &slot, std::optional<sdk::Failure> &failure) {
    const Answer answer = slot.recorded ? api_->query(slot.event) : api_->query_all();
    if (!answer.over) return State::pending;
    for (uint32_t i = 0; i < slot.wait_count; ++i) {
        const Wait &wait = slot.waits[i];
        if (wait.lane->completed() < wait.value) wait.lane->retire();
        if (wait.lane->completed() < wait.value) return State::pending;
    }
    if (failed_.load(std::memory_order_relaxed) != 0) return State::over; // poisoned: why does not matter any more
    for (uint32_t i = 0; i < slot.wait_count && !failure; ++i) {
        const Wait &wait = slot.waits[i];
        if (!wait.lane->failed(wait.value)) continue;
        if (const auto why = wait.lane->failure())
            failure = sdk::Failure{
                why->status, fmt::format("waited for value {} of another queue, which failed: {}", wait.value, why->message),
                why->region, why->offset};
    }
    if (!failure) failure = std::move(slot.failure);
    if (!failure && answer.code != 0) {
        failure = api_->explain(answer.code, true);
        failure->message = fmt::format("{} failed on the device: {}",
                                       slot.command_count == 1 ? std::string("the command")
                                                               : fmt::format("one of {} commands", slot.command_count),
                                       failure->message);
        failure->region = slot.region, failure->offset = slot.offset;
    }
    return State::over;
}

void Lane::complete(uint64_t value, Slot &slot, std::optional<sdk::Failure> &&failure) noexcept {
    if (failure && failed_.load(std::memory_order_relaxed) == 0) {
        status_.store(failure->status, std::memory_order_relaxed);
        {
            const std::lock_guard lock(mutex_);
            failure_ = std::move(failure);
        }
        failed_.store(value, std::memory_order_release);
    }
    give_back(slot);
    completed_.store(value, std::memory_order_release);
}

void Lane::give_back(Slot &slot) noexcept {
    for (uint32_t i = 0; i < slot.wait_count; ++i) slot.waits[i].lane->release();
    slot.wait_count = 0;
    slot.pins.give_back(regions_);
    slot.failure.reset();
}

Event Lane::event_of(uint64_t value) noexcept {
    return completed() >= value ? nullptr : slot(value).event;
}

void Lane::end() noexcept {
    while (!idle()) {
        const Retiring retiring(*this);
        if (!retiring) continue;
        const uint64_t value = completed_.load(std::memory_order_relaxed) + 1;
        complete(value, slot(value), sdk::Failure{HBF_DEVICE_LOST, {}});
    }
    const Entered entered(*api_);
    for (size_t i = 0; i < depth_; ++i) api_->destroy_event(std::exchange(slots_[i].event, nullptr));
}

} // namespace hbf::stream
