// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/engines.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "conformance/sim/model/parts.hpp"
#include "plugins/host/signals_blocked.hpp"

namespace hbf::model {
namespace {

using Kind = Operation::Kind;
constexpr uint32_t kernels_at_once = 4; // kernels may wait for each other
constexpr uint32_t most_copy_threads = 3;
constexpr auto polling = std::chrono::microseconds(100);
constexpr auto moment = std::chrono::microseconds(5);

bool moves(const Operation &operation) {
    return operation.kind == Kind::copy || operation.kind == Kind::fill || operation.kind == Kind::launch;
}

} // namespace

Engines::Engines(Machine &machine, int devices, uint64_t seed)
    : machine_(machine), dice_(seed), virtual_time_(machine.timing() == Timing::virtual_time) {
    for (int i = 0; i < devices; ++i) {
        auto &crews = crews_.emplace_back();
        for (auto &each : crews) each = std::make_unique<Crew>();
        crews[static_cast<size_t>(Class::copy)]->most =
            std::clamp(machine.device(i).profile().copy_engines, 1u, most_copy_threads);
        crews[static_cast<size_t>(Class::kernel)]->most = kernels_at_once;
    }
}

Engines::~Engines() {
    std::vector<std::thread> threads;
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        threads.swap(threads_);
        wake();
    }
    for (std::thread &thread : threads) thread.join();
    // What never ends holds its event, and that its stream.
    for (const auto &lane : lanes_) lane->slots.clear();
}

void Engines::wake() {
    for (auto &crews : crews_)
        for (auto &crew : crews)
            if (crew->idle != 0) crew->work.notify_all();
}

// Whoever may be free for what is at the front of a stream. The thread that comes on settling goes on by itself.
void Engines::wake_for(const Stream::Parts &lane) {
    const bool in_order = lane.options.in_order;
    if (lane.slots.empty() || (in_order && lane.slots.front()->state != Slot::State::waiting)) return;
    auto &crews = crews_[static_cast<size_t>(lane.device)];
    for (const Class each : {Class::copy, Class::kernel, Class::call}) {
        Crew &crew = *crews[static_cast<size_t>(each)];
        if (crew.idle == 0 || (in_order && !belongs(lane.slots.front()->operation, each))) continue;
        crew.work.notify_one();
        if (in_order) return;
    }
}

void Engines::wake_ready() {
    if (machine_.faults().any()) return wake(); // what is not in front may begin, too
    for (const auto &lane : lanes_) wake_for(*lane);
}

// All threads of the crew, with its first work: a driver starts its threads when it is first used, and none later. Where not
// all can be had, the others do their work, later.
void Engines::hire(int device, Class each) {
    Crew &crew = this->crew(device, each);
    if (ending_ || crew.threads != 0 || virtual_time_) return;
    const host::SignalsBlocked blocked;
    try {
        for (; crew.threads < crew.most; ++crew.threads) threads_.emplace_back([this, device, each] { work(device, each); });
    } catch (const std::system_error &) { // as on a machine with fewer engines, if there is one at all
        if (crew.threads == 0) throw;
    }
}

void Engines::hire_for(int device, const Operation &operation) {
    for (const Class each : {Class::copy, Class::kernel, Class::call})
        if (belongs(operation, each)) return hire(device, each); // whatever all may do: by the first
}

void Engines::work(int device, Class mine) noexcept {
    Lock lock(mutex_);
    Crew &crew = this->crew(device, mine);
    while (!ending_) {
        call_ended(lock);
        run_late(lock, device);
        bool polls = false;
        const Found found = choose(device, mine, polls);
        if (found.slot && dice_.below(8) == 0) { // not yet: others may come first
            crew.work.wait_for(lock, moment);    // not by yielding: on a busy machine that lasts until all others had a turn
        } else if (found.slot) {
            run(lock, found);
        } else if (!ending_) { // it may have begun where the lock was let go
            ++crew.idle;
            if (polls || !late_.empty())
                crew.work.wait_for(lock, polling);
            else
                crew.work.wait(lock);
            --crew.idle;
        }
    }
    call_ended(lock);
}

// Whether the operation is to be executed; else it is over, or never will be.
bool Engines::begins(const Found &found) {
    Slot &slot = *found.slot;
    const std::shared_ptr<Stream::Parts> &lane = found.lane;
    Faults &faults = machine_.faults();
    slot.state = Slot::State::running;
    const Outcome stop = stopped(*lane);
    if (keep_order(*lane, slot, stop)) {
        const bool carries = slot.operation.kind == Kind::record || slot.operation.kind == Kind::signal;
        finish(lane, slot, carries ? Outcome::ok : stop);
        return false;
    }
    for (const Class each : {Class::copy, Class::kernel, Class::call})
        if (belongs(slot.operation, each)) hire(lane->device, each); // this thread is not idle any more
    if (!moves(slot.operation) || !faults.any()) return true;
    if (faults.fires(Fault::never_completes, lane->device)) {
        slot.state = Slot::State::stuck;
        return false;
    }
    if (!faults.fires(Fault::early_completion, lane->device)) return true;
    const uint64_t due = clock() + faults.value(Fault::early_completion, 2) * 1'000'000;
    auto ended = slot.operation.ended;
    late_.push_back({std::move(slot.operation), due, lane->device});
    late_.back().operation.ended = nullptr;
    slot.operation.kind = Kind::nothing;
    slot.operation.ended = ended;
    slot.operation.ended_argument = late_.back().operation.ended_argument;
    finish(lane, slot, Outcome::ok);
    return false;
}

void Engines::run(Lock &lock, const Found &found) {
    const std::shared_ptr<Stream::Parts> lane = found.lane;
    if (!begins(found)) return;
    lock.unlock();
    Outcome outcome = execute(machine_, lane->device, found.slot->operation);
    if (outcome != Outcome::lost && machine_.device(lane->device).lost()) outcome = Outcome::lost;
    lock.lock();
    finish(lane, *found.slot, outcome);
}

// What was said to be over before it began.
void Engines::run_late(Lock &lock, int device) {
    const uint64_t now = late_.empty() ? 0 : clock();
    for (size_t i = 0; i < late_.size(); ++i) {
        if (late_[i].device != device || late_[i].due_ns > now) continue;
        Late late = std::move(late_[i]);
        late_.erase(late_.begin() + static_cast<ptrdiff_t>(i));
        lock.unlock();
        execute(machine_, device, late.operation);
        lock.lock();
        return;
    }
}

void Engines::finish(const std::shared_ptr<Stream::Parts> &lane, Slot &slot, Outcome outcome) {
    Device &device = machine_.device(lane->device);
    if (is_error(outcome) && outcome != Outcome::lost && machine_.faults().fires(Fault::swallow_error, lane->device))
        outcome = Outcome::ok;
    if (is_error(outcome)) {
        Outcome none = Outcome::ok;
        lane->status.compare_exchange_strong(none, outcome);
        if (device.contract().sticky_errors && is_fatal(outcome)) device.break_with(outcome);
    }
    slot.state = Slot::State::done;
    slot.outcome = outcome;
    if (slot.operation.ended) ended_.push_back({slot.operation.ended, slot.operation.ended_argument, outcome});
    settle(lane);
}

// Moves the stream's progress, and lets go of what waited for it.
void Engines::settle(const std::shared_ptr<Stream::Parts> &lane) {
    while (!lane->slots.empty() && lane->slots.front()->state == Slot::State::done) {
        auto slot = std::move(lane->slots.front());
        lane->slots.pop_front();
        lane->completed.fetch_add(1, std::memory_order_release);
        lane->give_back(std::move(slot));
    }
    if (lane->closing && lane->slots.empty()) std::erase(lanes_, lane);
    done_.notify_all();
    wake_ready();
}

// In their order, by one thread at a time: who has seen the last event of a stream may destroy those before it.
void Engines::call_ended(Lock &lock) {
    if (telling_) return; // whoever does tells of these, too
    telling_ = true;
    while (!ended_.empty()) {
        const Ended first = ended_.front();
        ended_.erase(ended_.begin());
        lock.unlock();
        {
            const InHostFunction inside;
            first.call(first.argument, first.outcome);
        }
        lock.lock();
    }
    telling_ = false;
}

} // namespace hbf::model
