// SPDX-License-Identifier: Apache-2.0
// The copy engines of a device: threads that run what its queues hold, later than it was submitted, and in an order that
// only waits, barriers and the order of a queue's values decide. The rest is up to seeded dice.
//
// With no engines the device is scripted: work is done one command at a time in the calls of poll and wait, so that the same
// calls with the same seed give the same order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/sim/dice.hpp"
#include "conformance/sim/execute.hpp"
#include "conformance/sim/lane.hpp"

namespace hbf::sim {

class Engine {
public:
    Engine(uint32_t engines, uint64_t seed, uint64_t fail_copy, uint32_t most_lanes, Counters &counters);
    ~Engine(); // lanes are gone
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

    void add(Lane &lane);
    void remove(Lane &lane) noexcept;
    uint64_t submit(Lane &lane, uint32_t count); // the commands lie in lane.room()
    bool wait(Lane &lane, uint64_t value, uint64_t timeout_ns);
    bool cancel(Lane &lane, uint64_t value);
    void look(Lane &lane) noexcept; // poll: scripted engines take a turn
    std::optional<sdk::Failure> failure(const Lane &lane);

private:
    using Lock = std::unique_lock<std::mutex>;
    void work(Bounce &bounce) noexcept; // an engine's life
    struct Turn {
        Lane *lane = nullptr;
        bool ahead = false; // of its turn
    };
    Turn choose();
    template <class Each>
    void each_turn(Each &&each);
    void run_one(Lock &lock, const Turn &turn, Bounce &bounce, bool unlocked);
    void settle() noexcept;
    void end() noexcept;

    const bool scripted_;
    const uint64_t fail_copy_;
    Counters &counters_;
    std::mutex mutex_;
    std::condition_variable work_, done_;
    std::vector<Lane *> lanes_;
    Dice dice_;
    bool ending_ = false;
    std::vector<std::unique_ptr<Bounce>> bounces_; // one for each engine, or for the script
    std::vector<std::thread> threads_;
};

} // namespace hbf::sim
