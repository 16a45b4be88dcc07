// SPDX-License-Identifier: Apache-2.0
// Runs a queue's commands in order. Whoever holds the queue's driver lock calls it: submit for short work, a waiting thread,
// a worker.
//
// Memory commands run here and now; storage commands are begun and go on by themselves, also those of later values, as long
// as they touch nothing that an earlier one still uses. So the effect is that of values run one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "memory_work.hpp"
#include "slots.hpp"
#include "storage_work.hpp"
#include "timeline.hpp"

namespace hbf::host {

class WorkerPool;

struct Limits {
    uint64_t target = UINT64_MAX;                          // leave once this value completed; begin no copies beyond it
    Clock::time_point deadline = Clock::time_point::max(); // leave then
    uint64_t memory_bytes = UINT64_MAX;                    // leave larger copies alone
    bool block = true;                                     // wait for storage
    const WorkerPool *give_way = nullptr;                  // leave when others have work for the pool
};

class Driver {
public:
    enum class Stop {
        done,   // nothing left, or the target completed
        io,     // storage operations are in flight and nothing else can be done now
        queue,  // held back by another queue, which resumes this one
        memory, // copies are left for a worker
        time,   // the deadline, or others want the worker
    };

    // One of the threads that could help with a large copy is told so by `announce(turns)`.
    class Announcer {
    public:
        virtual void announce(uint64_t turns) noexcept = 0;

    protected:
        ~Announcer() = default;
    };

    Driver(Slots &slots, uint32_t commands, RegionTable &regions, Timeline &timeline, StorageTier *storage, Held &held,
           Announcer &announcer);
    ~Driver();

    Stop run(const std::atomic<uint64_t> &last, const Limits &limits) noexcept;
    uint64_t seen() const noexcept { return seen_; }  // `last` when run looked the last time
    void let_go() noexcept;                           // of the queue that holds this one back, if any
    MemoryWork &memory() noexcept { return memory_; } // [any thread]
    bool held_back() const noexcept { return held_back_.load(std::memory_order_seq_cst); } // [any thread] by a queue
    void held_no_more() noexcept { held_back_.store(false, std::memory_order_seq_cst); }   // [any thread]

private:
    enum class Block { none, io, queue, memory, beyond, time };

    Block issue(const std::atomic<uint64_t> &last, const Limits &limits);
    Block issue_slot(Slot &slot, const Limits &limits);
    Block wait(Slot &slot, const Command &command);
    Block run_memory(Slot &slot, const Limits &limits);
    bool retire() noexcept;
    void note_failure(Slot &slot) noexcept; // from the exception being handled

    Slots &slots_;
    RegionTable &regions_;
    Timeline &timeline_;
    Held &held_;
    Announcer &announcer_;
    std::unique_ptr<uint64_t[]> turns_;
    MemoryWork memory_;
    std::optional<StorageWork> storage_;

    uint64_t seen_ = 0, issuing_ = 1, retired_ = 0; // values
    uint32_t command_ = 0, run_end_ = 0;            // of the slot being issued
    uint64_t begun_ = 0;                            // bytes of that command, if it is storage's
    uint64_t budget_ = 0;
    bool claimed_ = false, poisoned_ = false;
    Timeline *holder_ = nullptr; // whose value holds this queue back
    std::atomic<bool> held_back_{false};
};

} // namespace hbf::host
