// SPDX-License-Identifier: Apache-2.0
// The engine's side of the page (layout.hpp). It lives in a memfd: nothing is left behind by a process that is killed, and
// who may see the process may read it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/engine/observe/layout.hpp"
#include "core/engine/types.hpp"
#include "hbf/status.hpp"

namespace hbf::kv::observe {

uint64_t now_ns() noexcept; // CLOCK_MONOTONIC, which all processes share

// [any thread] A call costs a few relaxed stores; nothing allocates, locks or fails.
class Page {
public:
    struct Tier {
        bool present = false, emulated = false;
        uint64_t capacity = 0; // bytes
        std::string medium;
    };
    struct Options {
        std::string name, policy; // of the model, of placement; cut where they are too long
        uint32_t blocks = 0;      // numbers are below it
        Tier tiers[tier_room];
    };
    static hbf::Result<std::unique_ptr<Page>> create(const Options &options);
    ~Page();
    Page(const Page &) = delete;
    Page &operator=(const Page &) = delete;

    void add(Counter counter, uint64_t by = 1) noexcept {
        header_->counters[static_cast<size_t>(counter)].fetch_add(by, std::memory_order_relaxed);
    }
    // One thread at a time for one block; for events, one at a time.
    void block(BlockId id, const BlockValue &value) noexcept; // numbers that are too large are left out
    void set(Counter counter, uint64_t value) noexcept {
        header_->counters[static_cast<size_t>(counter)].store(value, std::memory_order_relaxed);
    }
    BlockValue value(BlockId id) noexcept; // as it was shown last, by its one writer
    void event(const EventValue &value) noexcept;
    void tier(kv::Tier tier, uint64_t used, uint64_t unusable, uint64_t blocks, uint64_t pinned) noexcept;
    void used(kv::Tier tier, uint64_t bytes) noexcept;
    void capacity(kv::Tier tier, uint64_t bytes) noexcept;
    SchedulerRow &scheduler() noexcept { return header_->scheduler; }

    // A thread says that it lives. -1: there is no room for more.
    int add_thread(std::string_view name) noexcept;
    void beat(int thread) noexcept;
    void end_thread(int thread) noexcept;
    LockRow *add_lock(std::string_view name) noexcept; // nullptr: no room

private:
    Page(Header *header, int fd) : header_(header), fd_(fd) {}
    BlockRow *blocks() noexcept;

    Header *header_;
    int fd_;
    std::mutex rows_; // who takes a thread's or a lock's row
};

// A mutex that shows who holds it since when. Without a row it is a plain one.
class ShownMutex {
public:
    void show(LockRow *row) noexcept { row_ = row; } // before it is used
    void lock();
    bool try_lock();
    void unlock();

private:
    void taken() noexcept;

    std::mutex mutex_;
    LockRow *row_ = nullptr;
};

} // namespace hbf::kv::observe
