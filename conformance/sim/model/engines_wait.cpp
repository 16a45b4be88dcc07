// SPDX-License-Identifier: Apache-2.0
// The host's waits, and what ends them.
#include <algorithm>
#include <chrono>
#include <limits>

#include "conformance/sim/model/block.hpp"
#include "conformance/sim/model/engines.hpp"
#include "conformance/sim/model/parts.hpp"

namespace hbf::model {
namespace {

constexpr uint64_t longest = uint64_t{1} << 62; // ns, over a century: the clock cannot take more
constexpr auto polling = std::chrono::microseconds(100);

} // namespace

template <class Done>
bool Engines::wait_for(Lock &lock, uint64_t timeout_ns, Done &&done) {
    if (virtual_time_) return wait_virtual(lock, timeout_ns, done);
    if (timeout_ns >= longest) {
        done_.wait(lock, done);
        return true;
    }
    return done_.wait_until(lock, std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns), done);
}

// The one who waits moves the clock, to the end of what is next.
template <class Done>
bool Engines::wait_virtual(Lock &lock, uint64_t timeout_ns, Done &&done) {
    const bool for_ever = timeout_ns >= longest;
    const uint64_t until = for_ever ? std::numeric_limits<uint64_t>::max() : clock_ns_ + timeout_ns;
    while (!done()) {
        if (stepping_) {
            done_.wait(lock);
        } else if (!step(lock, until) && !done()) {
            if (!for_ever) {
                clock_ns_ = std::max(clock_ns_, until);
                return done();
            }
            done_.wait_for(lock, polling); // only another thread of the program can let it go on
        }
    }
    return true;
}

void Engines::add(std::shared_ptr<Stream::Parts> lane) {
    const std::lock_guard lock(mutex_);
    lanes_.push_back(std::move(lane));
}

void Engines::close(Stream::Parts &lane) {
    const std::lock_guard lock(mutex_);
    lane.closing = true;
    if (lane.slots.empty()) std::erase_if(lanes_, [&](const auto &each) { return each.get() == &lane; });
}

bool Engines::wait(Stream::Parts &lane, uint64_t number, uint64_t timeout_ns) {
    Lock lock(mutex_);
    return wait_for(lock, timeout_ns, [&] { return lane.completed.load(std::memory_order_relaxed) >= number; });
}

Outcome Engines::wait(Event::Parts &event, uint64_t timeout_ns) {
    Lock lock(mutex_);
    // Of a mark, the record as it is now: whoever records it again meanwhile, waits himself.
    const std::shared_ptr<Stream::Parts> stream = event.stream;
    const uint64_t number = event.number;
    wait_for(lock, timeout_ns, [&] {
        return event.look() != Outcome::pending || (stream && stream->completed.load(std::memory_order_relaxed) >= number);
    });
    return event.look();
}

bool Engines::wait_device(int device, uint64_t timeout_ns) {
    std::vector<std::pair<std::shared_ptr<Stream::Parts>, uint64_t>> all;
    Lock lock(mutex_);
    for (const auto &lane : lanes_)
        if (lane->device == device && !lane->slots.empty()) all.emplace_back(lane, lane->submitted.load());
    return wait_for(lock, timeout_ns, [&] {
        for (const auto &[lane, number] : all)
            if (lane->completed.load(std::memory_order_relaxed) < number) return false;
        return true;
    });
}

Outcome Engines::device_outcome(int device) {
    const Lock lock(mutex_);
    if (const Outcome broken = machine_.device(device).status(); broken != Outcome::ok) return broken;
    for (const auto &lane : lanes_)
        if (const Outcome first = lane->status.load(); lane->device == device && first != Outcome::ok) return first;
    return Outcome::ok;
}

void Engines::end_all(int device) {
    const Lock lock(mutex_);
    const auto all = lanes_; // settle() takes some out
    for (const auto &lane : all) {
        if (lane->device != device) continue;
        for (const auto &slot : lane->slots) {
            if (slot->state != Slot::State::waiting && slot->state != Slot::State::stuck) continue;
            if (!keep_order(*lane, *slot, Outcome::lost)) machine_.memory().parts().free_now(slot->operation.dst);
            slot->state = Slot::State::done;
            slot->outcome = Outcome::lost;
            if (slot->operation.ended)
                ended_.push_back({slot->operation.ended, slot->operation.ended_argument, Outcome::lost});
        }
        Outcome none = Outcome::ok;
        lane->status.compare_exchange_strong(none, Outcome::lost);
        settle(lane);
    }
    done_.notify_all();
    wake();
}

void Engines::set(Event::Parts &event, bool on) {
    const Lock lock(mutex_);
    event.outcome = on ? Outcome::ok : Outcome::pending;
    event.time_ns = on ? clock() : 0;
    done_.notify_all();
    wake();
}

} // namespace hbf::model
