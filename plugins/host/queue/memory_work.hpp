// SPDX-License-Identifier: Apache-2.0
// Copies and fills between memory, in turns that several threads can take: the queue's driver, workers, and whoever waits.
#pragma once

#include <atomic>
#include <cstdint>

#include "command.hpp"
#include "timeline.hpp"

namespace hbf::host {

// Runs one command, or the part [from, from + size) of it; from is a multiple of HBF_CRC_PIECE. Ends with the fence.
void run_memory_command(const Command &command, uint64_t from, uint64_t size) noexcept;

// A run of commands that are unordered among themselves.
class MemoryWork {
public:
    // [driver] Opens the run; `turns` must hold a number per command.
    void open(const Command *commands, uint32_t count, uint64_t *turns) noexcept;
    bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }
    uint64_t turns() const noexcept { return total_; } // [driver]

    // [driver] Takes turns until none is left and all are done, then closes (true), or until the deadline (false).
    bool drive(Clock::time_point deadline) noexcept;
    // [any thread] Takes turns if there are some. True if it did anything.
    bool help(Clock::time_point deadline) noexcept;

private:
    bool take_turn() noexcept;

    const Command *commands_ = nullptr;
    uint64_t *first_turn_ = nullptr; // of each command
    uint32_t count_ = 0;
    uint64_t total_ = 0;
    alignas(64) std::atomic<uint64_t> next_{0};
    alignas(64) std::atomic<uint64_t> done_{0};
    std::atomic<uint32_t> helpers_{0}; // that may look at the fields above
    std::atomic<bool> open_{false};
};

} // namespace hbf::host
