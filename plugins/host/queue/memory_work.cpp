// SPDX-License-Identifier: Apache-2.0
#include "memory_work.hpp"

#include <algorithm>
#include <thread>

#include "copy_policy.hpp"
#include "kernels/host/copy.hpp"

namespace hbf::host {

void run_memory_command(const Command &command, uint64_t from, uint64_t size) noexcept {
    std::byte *const dst = command.dst.memory + from;
    const kernels::Stores stores = stores_for(command.size);
    switch (command.kind) {
    case HBF_COMMAND_COPY:
        if (command.crc)
            kernels::copy_crc32c(dst, command.src.memory + from, size, stores, command.crc + from / HBF_CRC_PIECE);
        else
            kernels::copy(dst, command.src.memory + from, size, stores);
        break;
    case HBF_COMMAND_FILL:
        kernels::fill(dst, size, command.pattern, command.pattern_size, stores);
        break;
    default:
        break; // flush, invalidate: the caches agree by themselves, and completion orders what was stored before
    }
}

void MemoryWork::open(const Command *commands, uint32_t count, uint64_t *turns) noexcept {
    commands_ = commands, count_ = count, first_turn_ = turns, total_ = 0;
    for (uint32_t i = 0; i < count; ++i) {
        turns[i] = total_;
        total_ += commands[i].moves_data() ? (commands[i].size + turn_size - 1) / turn_size : 1;
    }
    next_.store(0, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    open_.store(true, std::memory_order_seq_cst);
}

bool MemoryWork::take_turn() noexcept {
    if (next_.load(std::memory_order_relaxed) >= total_) return false;
    const uint64_t turn = next_.fetch_add(1, std::memory_order_relaxed);
    if (turn >= total_) return false;
    const auto index = std::upper_bound(first_turn_, first_turn_ + count_, turn) - first_turn_ - 1;
    const Command &command = commands_[index];
    const uint64_t from = (turn - first_turn_[index]) * turn_size;
    run_memory_command(command, from, std::min(turn_size, command.size - from));
    done_.fetch_add(1, std::memory_order_release);
    return true;
}

bool MemoryWork::drive(Clock::time_point deadline) noexcept {
    while (take_turn())
        if (deadline != Clock::time_point::max() && Clock::now() >= deadline) break;
    while (done_.load(std::memory_order_acquire) < total_) {
        if (next_.load(std::memory_order_relaxed) < total_) return false; // the deadline broke the loop above
        if (deadline != Clock::time_point::max() && Clock::now() >= deadline) return false;
        std::this_thread::yield(); // a helper is in its last turn, perhaps without a CPU
    }
    open_.store(false, std::memory_order_seq_cst);
    while (helpers_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield(); // on their way out
    return true;
}

bool MemoryWork::help(Clock::time_point deadline) noexcept {
    if (!is_open()) return false;
    helpers_.fetch_add(1, std::memory_order_seq_cst); // before looking again: drive waits for it after closing
    bool helped = false;
    if (open_.load(std::memory_order_seq_cst))
        while (take_turn()) {
            helped = true;
            if (deadline != Clock::time_point::max() && Clock::now() >= deadline) break;
        }
    helpers_.fetch_sub(1, std::memory_order_seq_cst);
    return helped;
}

} // namespace hbf::host
