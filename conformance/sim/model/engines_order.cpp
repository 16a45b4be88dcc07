// SPDX-License-Identifier: Apache-2.0
// What comes after what.
#include <algorithm>
#include <chrono>

#include "conformance/sim/model/block.hpp"
#include "conformance/sim/model/engines.hpp"
#include "conformance/sim/model/parts.hpp"

namespace hbf::model {
namespace {

using Kind = Operation::Kind;
constexpr size_t look_ahead = 64; // slots of a stream

bool moves(const Operation &operation) {
    return operation.kind == Kind::copy || operation.kind == Kind::fill || operation.kind == Kind::launch;
}
// Of a stream out of order: those after it wait for it.
bool holds(const Operation &operation) {
    return operation.kind == Kind::barrier || operation.kind == Kind::record || operation.kind == Kind::wait_event ||
           operation.kind == Kind::wait_signal || operation.kind == Kind::wait_value;
}

bool compares(uint64_t value, uint64_t with, Compare how, bool wide) {
    const uint64_t mask = wide ? ~uint64_t{0} : 0xffffffffu;
    switch (how) {
    case Compare::equal:
        return ((value ^ with) & mask) == 0;
    case Compare::at_least:
        return wide ? static_cast<int64_t>(value - with) >= 0
                    : static_cast<int32_t>(static_cast<uint32_t>(value) - static_cast<uint32_t>(with)) >= 0;
    case Compare::bits_set:
        return (value & with & mask) != 0;
    case Compare::any_clear:
        return (~(value | with) & mask) != 0;
    }
    return true;
}

} // namespace

uint64_t now_ns() noexcept {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

std::unique_ptr<Slot> Stream::Parts::take_slot() {
    if (spare.empty()) return std::make_unique<Slot>();
    auto slot = std::move(spare.back());
    spare.pop_back();
    return slot;
}

void Stream::Parts::give_back(std::unique_ptr<Slot> slot) {
    *slot = Slot{};
    spare.push_back(std::move(slot));
}

Outcome Event::Parts::look() const {
    if (kind == EventKind::mark && !recorded) return Outcome::ok;
    return outcome;
}

bool Engines::belongs(const Operation &operation, Class to) {
    switch (operation.kind) {
    case Kind::copy:
    case Kind::fill:
    case Kind::write_value:
    case Kind::write_back:
    case Kind::invalidate:
        return to == Class::copy;
    case Kind::launch:
        return to == Class::kernel;
    case Kind::host_function:
        return to == Class::call;
    default:
        return true;
    }
}

uint64_t Engines::submit(const std::shared_ptr<Stream::Parts> &lane, std::span<Operation> operations) {
    const bool free = machine_.timing() == Timing::free;
    Lock lock(mutex_);
    if (machine_.device(lane->device).status() != Outcome::ok) return 0;
    for (Operation &operation : operations) free ? put_free(lane, operation) : put(lane, std::move(operation));
    if (!free) machine_.faults().any() ? wake() : wake_for(*lane);
    const uint64_t last = lane->submitted.load(std::memory_order_relaxed);
    lock.unlock();
    if (free)
        for (const Operation &operation : operations) call_free(operation);
    return last;
}

void Engines::put(const std::shared_ptr<Stream::Parts> &lane, Operation &&operation) {
    auto slot = lane->take_slot();
    slot->operation = std::move(operation);
    slot->ticket = next_ticket_++;
    slot->number = lane->submitted.load(std::memory_order_relaxed) + 1;
    if (slot->operation.event) slot->event = slot->operation.event->parts();
    prepare(*slot, *lane);
    if (slot->operation.kind == Kind::record) {
        Event::Parts &event = *slot->event;
        const bool early = machine_.faults().fires(Fault::event_early, lane->device);
        event.recorded = true;
        event.stream = early ? nullptr : lane;
        event.number = slot->number;
        event.outcome = early ? Outcome::ok : Outcome::pending;
        event.time_ns = early ? clock() : 0;
    }
    hire_for(lane->device, slot->operation);
    lane->slots.push_back(std::move(slot));
    lane->submitted.fetch_add(1, std::memory_order_release);
}

void Engines::prepare(Slot &slot, const Stream::Parts &lane) {
    const Operation &operation = slot.operation;
    Faults &faults = machine_.faults();
    if (operation.kind == Kind::wait_event) {
        slot.waited = slot.event->stream;
        slot.waited_number = slot.event->number;
    }
    if (!faults.any()) return;
    if (operation.kind == Kind::wait_event || operation.kind == Kind::wait_signal)
        slot.skip_wait = faults.fires(Fault::wait_ignored, lane.device);
    if (operation.kind == Kind::host_function) slot.out_of_turn = faults.fires(Fault::host_function_early, lane.device);
    if (moves(operation)) slot.overtakes = faults.fires(Fault::reorder, lane.device);
}

// Timing `free`: over at once, and nothing was moved.
void Engines::put_free(const std::shared_ptr<Stream::Parts> &lane, const Operation &operation) {
    const uint64_t number = lane->submitted.fetch_add(1, std::memory_order_relaxed) + 1;
    Event::Parts *const event = operation.event ? operation.event->parts().get() : nullptr;
    switch (operation.kind) {
    case Kind::record:
        event->recorded = true;
        [[fallthrough]];
    case Kind::signal:
        event->outcome = Outcome::ok;
        event->time_ns = now_ns();
        break;
    case Kind::reset:
        event->outcome = Outcome::pending;
        break;
    case Kind::write_value:
        machine_.memory().poke(operation.dst, &operation.value, operation.size);
        break;
    case Kind::free:
        machine_.memory().parts().free_now(operation.dst);
        break;
    default:
        break;
    }
    lane->completed.store(number, std::memory_order_release);
}

// What the user is told of it, without the lock: he may ask back.
void Engines::call_free(const Operation &operation) {
    if (operation.kind != Kind::host_function && !operation.ended) return;
    const InHostFunction inside;
    if (operation.kind == Kind::host_function) operation.function(operation.argument);
    if (operation.ended) operation.ended(operation.ended_argument, Outcome::ok);
}

bool Engines::in_turn(const Stream::Parts &lane, size_t index) const {
    const auto &slots = lane.slots;
    const Slot &slot = *slots[index];
    if (slot.out_of_turn) return true;
    if (lane.options.in_order) {
        const bool both = slots.size() > 1 && slots[1]->overtakes && moves(slots[0]->operation);
        if (both && index < 2 && slots[0]->state == Slot::State::waiting)
            return index == 1 || slots[1]->state == Slot::State::done;
        for (size_t i = 1; i <= index; ++i)
            if (!slots[i]->operation.together) return false;
        return true;
    }
    const bool alone = slot.operation.kind == Kind::barrier || slot.operation.kind == Kind::record;
    for (size_t i = 0; i < index; ++i)
        if (slots[i]->state != Slot::State::done && (alone || holds(slots[i]->operation))) return false;
    return true;
}

// Whether blocking streams and the default stream let each other go.
bool Engines::default_done(const Stream::Parts &lane, const Slot &slot) const {
    if (!lane.is_default && !lane.options.waits_for_default) return true;
    if (!machine_.device(lane.device).contract().legacy_default_stream) return true;
    return std::all_of(lanes_.begin(), lanes_.end(), [&](const auto &other) {
        if (other.get() == &lane || other->device != lane.device || other->slots.empty()) return true;
        const bool between = lane.is_default ? other->options.waits_for_default : other->is_default;
        return !between || other->slots.front()->ticket > slot.ticket;
    });
}

bool Engines::ready(const Stream::Parts &lane, const Slot &slot) {
    if (stopped(lane) != Outcome::ok) return true;
    if (!default_done(lane, slot)) return false;
    const Operation &operation = slot.operation;
    if (slot.skip_wait) return true;
    if (operation.kind == Kind::wait_event)
        return !slot.waited || slot.waited->completed.load(std::memory_order_acquire) >= slot.waited_number;
    if (operation.kind == Kind::wait_signal) return slot.event->outcome != Outcome::pending;
    if (operation.kind != Kind::wait_value) return true;
    uint64_t value = 0;
    if (machine_.memory().peek(operation.src, &value, operation.size) != Outcome::ok) return true; // its run says so
    return compares(value, operation.value, operation.compare, operation.size == 8);
}

// ok, or what an error before makes of all that follows.
Outcome Engines::stopped(const Stream::Parts &lane) const {
    const Device &device = machine_.device(lane.device);
    if (device.status() != Outcome::ok) return device.status();
    return device.contract().stop_after_error ? lane.status.load(std::memory_order_relaxed) : Outcome::ok;
}

Engines::Found Engines::choose(int device, Class mine, bool &polls) {
    Found found;
    uint64_t seen = 0;
    const bool plain = !machine_.faults().any();
    for (const auto &lane : lanes_) {
        if (lane->device != device) continue;
        for (size_t i = 0; i < std::min(lane->slots.size(), look_ahead); ++i) {
            Slot &slot = *lane->slots[i];
            if (i != 0 && plain && lane->options.in_order && !slot.operation.together) break;
            if (slot.state != Slot::State::waiting || !belongs(slot.operation, mine) || !in_turn(*lane, i)) continue;
            if (!ready(*lane, slot)) {
                polls |= slot.operation.kind == Kind::wait_value;
                continue;
            }
            if (dice_.below(++seen) == 0) found = {lane, &slot}; // each as likely as the others
        }
    }
    if (Crew &crew = this->crew(device, mine); seen > 1 && crew.idle != 0) crew.work.notify_one(); // there is more
    return found;
}

// Whether the slot is of a kind that only keeps order: then it is over with this.
bool Engines::keep_order(const Stream::Parts &lane, Slot &slot, Outcome stop) {
    const Operation &operation = slot.operation;
    switch (operation.kind) {
    case Kind::record: {
        Event::Parts &event = *slot.event;
        if (event.stream.get() != &lane || event.number != slot.number) return true; // recorded again since
        const Outcome ahead = stop != Outcome::ok ? stop : lane.status.load(std::memory_order_relaxed);
        event.outcome = machine_.device(lane.device).contract().events_carry_errors ? ahead : Outcome::ok;
        event.time_ns = clock();
        event.stream = nullptr;
        return true;
    }
    case Kind::signal:
        slot.event->outcome = stop;
        slot.event->time_ns = clock();
        return true;
    case Kind::reset:
        slot.event->outcome = Outcome::pending;
        return true;
    case Kind::nothing:
    case Kind::wait_event:
    case Kind::wait_signal:
    case Kind::barrier:
        return true;
    case Kind::free:
        return false; // also after an error
    default:
        return stop != Outcome::ok;
    }
}

} // namespace hbf::model
