// SPDX-License-Identifier: Apache-2.0
// How far a stream queue has come: its values in flight, an event each. Shared with the values of other queues that wait for
// one of its own, so it may outlive the queue; by then nothing of it is in flight.
//
// The stream is in order, so values complete in order by themselves. A value is retired by whoever looks: its event is
// asked, its regions given back, its failure or that of what it waited for kept. One thread at a time retires a lane, under
// a flag that the others do not wait for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "hbf/abi/command.h"
#include "plugins/stream/command.hpp"
#include "plugins/stream/stream_api.hpp"

namespace hbf::stream {

class Lane {
public:
    Lane(Regions &regions, uint32_t depth, uint32_t commands, uint32_t pins);
    // Once, before all else: makes its events, or throws with none made. `api` lives until end().
    void begin(StreamApi &api);

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    struct Wait {
        Lane *lane; // retained
        uint64_t value;
    };
    // What one value leaves to be looked after.
    struct Slot {
        Event event = nullptr;
        bool recorded = false;
        Wait *waits = nullptr;
        uint32_t wait_count = 0;
        uint32_t command_count = 0;
        hbf_region region = 0; // the place of its only command, if it has one
        uint64_t offset = HBF_NO_PLACE;
        Pins pins{};
        std::optional<sdk::Failure> failure; // found while it was handed over
    };

    // [submit] The place of the next value. Nobody else looks at it before publish().
    bool full() noexcept; // retires, if need be
    Slot &next() noexcept { return slot(submitted_.load(std::memory_order_relaxed) + 1); }
    uint64_t publish() noexcept;         // its number
    void give_back(Slot &slot) noexcept; // instead, where it was refused; or at its end

    uint32_t depth() const { return depth_; }
    uint64_t completed() const noexcept { return completed_.load(std::memory_order_acquire); }
    bool idle() const noexcept { return completed() == submitted_.load(std::memory_order_acquire); }
    sdk::Progress progress() const noexcept;
    std::optional<sdk::Failure> failure() const;

    // [any thread] Completes what is over. Never blocks: where another thread is at it, that one does.
    void retire() noexcept;

    // [another queue's submit, while this lane's queue lives] Its event, where `value` has not completed; else nullptr. By
    // the time it is used it may stand for a later value: one that no value waits for yet, so nobody waits in a circle.
    Event event_of(uint64_t value) noexcept;

    // [owner, nothing runs on the device any more] Ends what is in flight, as lost; and the events.
    void end() noexcept;

private:
    ~Lane() = default;
    class Retiring;
    enum class State { pending, over };

    Slot &slot(uint64_t value) noexcept { return slots_[value % depth_]; }
    State look(Slot &slot, std::optional<sdk::Failure> &failure);
    bool failed(uint64_t value) const noexcept {
        const uint64_t first = failed_.load(std::memory_order_acquire);
        return first != 0 && first <= value;
    }
    void complete(uint64_t value, Slot &slot, std::optional<sdk::Failure> &&failure) noexcept;

    StreamApi *api_ = nullptr;
    Regions &regions_;
    const uint32_t depth_;
    std::unique_ptr<Wait[]> waits_; // of all slots
    std::unique_ptr<hbf_region[]> pins_;
    std::unique_ptr<Slot[]> slots_;
    std::atomic<uint32_t> references_{1};
    alignas(64) std::atomic<uint64_t> submitted_{0};
    alignas(64) std::atomic<bool> retiring_{false};
    std::atomic<uint64_t> completed_{0}, failed_{0}; // failed: set before its value completes
    std::atomic<hbf_status> status_{HBF_OK};
    mutable std::mutex mutex_;            // of failure_, written once
    std::optional<sdk::Failure> failure_; // of failed_
};

// nullptr where submit has not returned that value. Not for barriers.
Lane *waited_lane(const hbf_wait &wait) noexcept;

} // namespace hbf::stream
