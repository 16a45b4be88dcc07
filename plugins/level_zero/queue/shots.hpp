// SPDX-License-Identifier: Apache-2.0
// Level Zero's events, which are set once and have to be reset by hand: a shot is one of them and the number of those who
// still need it as it is. It is used again only when nobody does, for a barrier of another queue may wait for it long after
// its own value is over.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "plugins/level_zero/library.hpp"

namespace hbf::level_zero {

struct Shot {
    ze::Event event = nullptr;
    std::atomic<uint32_t> users{0};

    // [any thread] One user more, unless there is none: then it may be on its way to another use.
    bool join() noexcept {
        uint32_t seen = users.load(std::memory_order_relaxed);
        while (seen != 0)
            if (users.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed))
                return true;
        return false;
    }
    void leave() noexcept { users.fetch_sub(1, std::memory_order_release); }
};

// All shots of a device. [any thread]
class ShotStore {
public:
    ShotStore(const Functions &ze, ze::Context context, ze::Device device) : ze_(ze), context_(context), device_(device) {}
    ~ShotStore();
    ShotStore(const ShotStore &) = delete;
    ShotStore &operator=(const ShotStore &) = delete;

    void take(uint32_t count, std::vector<Shot *> &out); // appends; throws, having appended nothing
    void give_back(const std::vector<Shot *> &shots) noexcept;

    // One for a moment, reset.
    class Lent {
    public:
        explicit Lent(ShotStore &store);
        ~Lent() { store_.give_back(shots_); }
        void keep() noexcept { shots_.front()->users.fetch_add(1, std::memory_order_relaxed); } // the device may set it yet
        Lent(const Lent &) = delete;
        Lent &operator=(const Lent &) = delete;
        ze::Event event() const { return shots_.front()->event; }

    private:
        ShotStore &store_;
        std::vector<Shot *> shots_;
    };

private:
    void grow();

    const Functions &ze_;
    ze::Context context_;
    ze::Device device_;
    std::mutex mutex_;
    std::vector<ze::Pool> pools_;
    std::deque<Shot> all_;
    std::vector<Shot *> free_; // has room for all
};

} // namespace hbf::level_zero
