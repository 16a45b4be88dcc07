// SPDX-License-Identifier: Apache-2.0
// The way of an access from readers to whoever decides: words in a ring, written without a lock and without waiting, taken
// out by one thread at a time. What finds the ring full is left out and counted: heat is a statistic, a reader's time is
// not.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "core/engine/types.hpp"

namespace hbf::kv {

class HeatRing {
public:
    static constexpr uint32_t room = 1 << 14; // words
    static constexpr uint32_t longest = 1024; // of what is written at once: it is there as a whole, or not at all

    // [any thread] False: there was no room.
    bool push(std::span<const uint32_t> words) noexcept {
        uint64_t at = tail_.load(std::memory_order_relaxed);
        do {
            if (static_cast<int64_t>(at + words.size() - head_.load(std::memory_order_acquire)) > int64_t{room}) {
                dropped_.fetch_add(words.size(), std::memory_order_relaxed);
                return false;
            }
        } while (!tail_.compare_exchange_weak(at, at + words.size(), std::memory_order_relaxed));
        for (const uint32_t word : words) {
            slots_[at % room].store(lap(at) << 32 | word, std::memory_order_release);
            ++at;
        }
        return true;
    }

    // [one thread at a time] Calls `take(word)` for what is there, at most `most` words, and stops before one that is still
    // being written. The number of them.
    template <class Take>
    uint64_t drain(uint64_t most, const Take &take) {
        const uint64_t begin = head_.load(std::memory_order_relaxed);
        uint64_t at = begin;
        for (; at - begin < most; ++at) {
            const uint64_t slot = slots_[at % room].load(std::memory_order_acquire);
            if (slot >> 32 != lap(at)) break;
            take(static_cast<uint32_t>(slot));
        }
        head_.store(at, std::memory_order_release);
        return at - begin;
    }

    bool empty() const noexcept { return tail_.load(std::memory_order_relaxed) == head_.load(std::memory_order_relaxed); }
    uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); } // words, ever

private:
    static uint64_t lap(uint64_t at) noexcept { return (at / room + 1) & UINT32_MAX; }

    std::array<std::atomic<uint64_t>, room> slots_{}; // lap and word
    alignas(64) std::atomic<uint64_t> tail_{0};
    alignas(64) std::atomic<uint64_t> head_{0};
    std::atomic<uint64_t> dropped_{0};
};

} // namespace hbf::kv
