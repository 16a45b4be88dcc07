// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/queue/lane.hpp"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {
namespace {

// Above CL_COMPLETE: not over. Below: it failed. What cannot be asked has failed as well.
cl_int status_of(const Functions &cl, cl_event event) noexcept {
    cl_int status = CL_COMPLETE;
    const cl_int code = cl.GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return code == CL_SUCCESS ? status : code;
}

const char *name_of(hbf_command_kind kind) {
    switch (kind) {
    case HBF_COMMAND_COPY:
        return "copy";
    case HBF_COMMAND_FILL:
        return "fill";
    case HBF_COMMAND_FLUSH:
        return "flush";
    case HBF_COMMAND_INVALIDATE:
        return "invalidate";
    case HBF_COMMAND_LAUNCH:
        return "launch";
    default:
        return "wait";
    }
}

} // namespace

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
    : regions_(regions), depth_(depth), events_(new Event[size_t{depth} * commands]),
      waits_(new Wait[size_t{depth} * commands]), pins_(new hbf_region[size_t{depth} * pins]), slots_(new Slot[depth]) {
    for (size_t i = 0; i < depth; ++i) {
        slots_[i].events = events_.get() + i * commands;
        slots_[i].waits = waits_.get() + i * commands;
        slots_[i].pins = {pins_.get() + i * pins, 0, pins};
    }
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
    const Functions &cl = library();
    // The last one first: while it runs, as a rule, nothing else has to be asked.
    bool ran_well = true;
    for (uint32_t i = slot.event_count; i > 0; --i) {
        const cl_int status = status_of(cl, slot.events[i - 1].event);
        if (status > CL_COMPLETE) return State::pending;
        ran_well &= status == CL_COMPLETE;
    }
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
    for (uint32_t i = 0; i < slot.event_count && !ran_well && !failure; ++i) {
        const Event &event = slot.events[i];
        const cl_int status = status_of(cl, event.event);
        if (status < CL_COMPLETE)
            failure = sdk::Failure{end_status(status),
                                   fmt::format("command {} ({}) failed on the device: {}", event.command,
                                               name_of(event.kind), error_text(status)),
                                   event.region, event.region ? event.offset : HBF_NO_PLACE};
    }
    if (!failure) failure = std::move(slot.failure);
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
    const Functions &cl = library();
    for (uint32_t i = 0; i < slot.event_count; ++i) cl.ReleaseEvent(slot.events[i].event);
    for (uint32_t i = 0; i < slot.wait_count; ++i) slot.waits[i].lane->release();
    slot.event_count = slot.wait_count = 0;
    slot.pins.give_back(regions_);
    slot.failure.reset();
}

cl_event Lane::event_of(uint64_t value) noexcept {
    for (;;) {
        {
            const Retiring retiring(*this);
            if (retiring) {
                const uint64_t first = completed_.load(std::memory_order_relaxed) + 1;
                for (uint64_t at = value; at >= first; --at) {
                    const Slot &slot = this->slot(at);
                    if (slot.event_count == 0) continue;
                    const cl_event event = slot.events[slot.event_count - 1].event;
                    return library().RetainEvent(event) == CL_SUCCESS ? event : nullptr;
                }
                return nullptr;
            }
        }
        std::this_thread::yield();
    }
}

void Lane::abandon() noexcept {
    while (!idle()) {
        const Retiring retiring(*this);
        if (!retiring) continue;
        const uint64_t value = completed_.load(std::memory_order_relaxed) + 1;
        complete(value, slot(value), sdk::Failure{HBF_DEVICE_LOST, {}});
    }
}

} // namespace hbf::opencl
