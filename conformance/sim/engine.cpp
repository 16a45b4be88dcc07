// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/engine.hpp"

#include <algorithm>

#include "plugins/host/signals_blocked.hpp"

namespace hbf::sim {

Engine::Engine(uint32_t engines, uint64_t seed, uint64_t fail_copy, uint32_t most_lanes, Counters &counters)
    : scripted_(engines == 0), fail_copy_(fail_copy), counters_(counters), dice_(seed) {
    lanes_.reserve(most_lanes);
    for (uint32_t i = 0; i < std::max(engines, 1u); ++i) bounces_.push_back(std::make_unique<Bounce>());
    threads_.reserve(engines);
    const host::SignalsBlocked blocked;
    try {
        for (uint32_t i = 0; i < engines; ++i) threads_.emplace_back([this, i] { work(*bounces_[i]); });
    } catch (...) {
        end();
        throw;
    }
}

Engine::~Engine() {
    end();
}

void Engine::end() noexcept {
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
    }
    work_.notify_all();
    for (std::thread &thread : threads_) thread.join();
}

void Engine::add(Lane &lane) {
    std::lock_guard lock(mutex_);
    lanes_.push_back(&lane);
}

void Engine::remove(Lane &lane) noexcept {
    std::lock_guard lock(mutex_);
    lanes_.erase(std::find(lanes_.begin(), lanes_.end(), &lane));
}

uint64_t Engine::submit(Lane &lane, uint32_t count) {
    std::lock_guard lock(mutex_);
    const uint64_t value = lane.push(count);
    settle();
    work_.notify_all();
    return value;
}

// A value that is over may let go of others, on any lane, in any order.
void Engine::settle() noexcept {
    bool moved = false, any = false;
    do {
        moved = false;
        for (Lane *const lane : lanes_) moved |= lane->settle();
        any |= moved;
    } while (moved);
    if (any) {
        done_.notify_all();
        work_.notify_all();
    }
}

// What may begin now. One queue at most runs ahead of its turn, and none that comes near it begins anything meanwhile.
template <class Each>
void Engine::each_turn(Each &&each) {
    const Lane *ahead = nullptr;
    for (const Lane *const lane : lanes_)
        if (lane->is_ahead()) ahead = lane;
    for (Lane *const lane : lanes_) {
        if (ahead && ahead != lane && lane->oldest_clashes(*ahead)) continue;
        if (lane->runnable() != 0) each(Turn{lane, false});
        if ((ahead && ahead != lane) || lane->runnable_ahead() == 0) continue;
        const bool near = !ahead && std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane *other) {
            return other != lane && lane->would_clash(*other);
        });
        if (!near) each(Turn{lane, true});
    }
}

Engine::Turn Engine::choose() {
    uint64_t candidates = 0;
    each_turn([&](const Turn &) { ++candidates; });
    if (candidates == 0) return {};
    uint64_t chosen = dice_.below(candidates);
    Turn turn;
    each_turn([&](const Turn &candidate) {
        if (chosen-- == 0) turn = candidate;
    });
    return turn;
}

void Engine::run_one(Lock &lock, const Turn &turn, Bounce &bounce, bool unlocked) {
    Lane &lane = *turn.lane;
    const Lane::Work work = turn.ahead ? lane.take_ahead(dice_) : lane.take(dice_);
    if (unlocked) lock.unlock();
    auto failure = execute(*work.command, bounce, counters_, fail_copy_);
    if (unlocked) lock.lock();
    lane.done(work, std::move(failure));
    settle();
}

void Engine::work(Bounce &bounce) noexcept {
    Lock lock(mutex_);
    while (!ending_) {
        const Turn turn = choose();
        if (!turn.lane) {
            work_.wait(lock);
        } else if (dice_.below(4) == 0) { // not yet: others may come first
            lock.unlock();
            std::this_thread::yield();
            lock.lock();
        } else {
            run_one(lock, turn, bounce, true);
        }
    }
}

bool Engine::wait(Lane &lane, uint64_t value, uint64_t timeout_ns) {
    using Clock = std::chrono::steady_clock;
    constexpr uint64_t forever = uint64_t{1} << 62; // ns, over a century: the clock cannot take more
    const bool limited = timeout_ns < forever;
    const auto deadline = Clock::now() + std::chrono::nanoseconds(limited ? timeout_ns : 0);
    const auto completed = [&] { return lane.timeline()->completed.load(std::memory_order_acquire) >= value; };
    Lock lock(mutex_);
    while (!completed()) {
        const Turn turn = scripted_ ? choose() : Turn{};
        if (turn.lane) run_one(lock, turn, *bounces_.front(), false);
        if (completed()) return true;
        if (limited && Clock::now() >= deadline) return false;
        if (turn.lane) continue;
        if (limited)
            done_.wait_until(lock, deadline);
        else
            done_.wait(lock);
    }
    return true;
}

bool Engine::cancel(Lane &lane, uint64_t value) {
    std::lock_guard lock(mutex_);
    const bool cancelled = lane.cancel(value);
    settle();
    return cancelled;
}

void Engine::look(Lane &) noexcept {
    if (!scripted_) return;
    Lock lock(mutex_);
    if (const Turn turn = choose(); turn.lane && dice_.below(4) != 0) run_one(lock, turn, *bounces_.front(), false);
}

std::optional<sdk::Failure> Engine::failure(const Lane &lane) {
    std::lock_guard lock(mutex_);
    return lane.timeline()->progress().failed ? lane.timeline()->failure : std::nullopt;
}

} // namespace hbf::sim
