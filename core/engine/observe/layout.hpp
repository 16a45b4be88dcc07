// SPDX-License-Identifier: Apache-2.0
// The page that a cache shows to `hbf monitor`: fixed places in shared memory, written by the engine as it goes and read by
// another process without asking. So it can be read while every thread of the engine is stopped, or waits for a lock.
//
// Everything is an atomic word of its own. What belongs together (a block, an event) has a sequence number that is odd while
// it is written: a reader that keeps meeting an odd one met a writer that was stopped there, and says so.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hbf::kv::observe {

inline constexpr char page_magic[8] = {'H', 'B', 'F', 'K', 'V', 'P', 'G', '\0'};
inline constexpr uint32_t page_version = 1;
inline constexpr const char *page_file = "hbf-kv"; // of the memfd, as /proc/PID/fd shows it

using Word = std::atomic<uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

enum class Counter : uint32_t {
#define HBF_KV_COUNTER(name, help) name,
#include "core/engine/observe/counters.inc"
#undef HBF_KV_COUNTER
    count
};
inline constexpr uint32_t counter_room = 64;
static_assert(static_cast<uint32_t>(Counter::count) <= counter_room);

// Why a block is where it is, or was moved.
enum class Reason : uint8_t {
    none,
    filled,
    hot,
    cooled,
    room,
    budget,
    asked,
    prefetch,
    recovered,
    compacted,
    pinned,
    count
};

enum class Outcome : uint8_t { done, spared, failed, late, cancelled, count }; // of a move

struct BlockValue {     // 12 bytes, for there is one of every block
    uint16_t score = 0; // of 65535
    int16_t heat = 0;   // 256ths of an octave above or below the heat of one use now
    uint16_t layer = 0;
    uint8_t tokens = 0;       // less one
    uint8_t uses = 0;         // stops at 255
    uint8_t tiers = 0;        // bit t: a copy in tier t; 0: the number is free
    uint8_t target_band = 0;  // tier where it belongs, times 4, plus its placement::Band
    uint8_t flags_reason = 0; // BlockFlag, times 16, plus Reason
    uint8_t relevance = 0;    // to the current query, of 255

    unsigned target() const noexcept { return target_band >> 2 & 3; }
    unsigned band() const noexcept { return target_band & 3; }
    unsigned flags() const noexcept { return flags_reason >> 4; }
    Reason reason() const noexcept { return static_cast<Reason>(flags_reason & 15); }
    void set_place(unsigned target, unsigned band) noexcept { target_band = static_cast<uint8_t>(target << 2 | band); }
    void set_reason(unsigned flags, Reason reason) noexcept {
        flags_reason = static_cast<uint8_t>(flags << 4 | static_cast<unsigned>(reason));
    }
};
static_assert(sizeof(BlockValue) == 12 && static_cast<unsigned>(Reason::count) <= 16);
enum BlockFlag : uint8_t { block_pinned = 1, block_moving = 2, block_shared = 4, block_filling = 8 };

struct EventValue {                   // 32 bytes: a move
    uint32_t block = 0, granules = 0; // granules
    uint8_t from = 0, to = 0;         // tiers
    Reason reason = Reason::none;
    Outcome outcome = Outcome::done;
    uint32_t reserved = 0;
    uint64_t when_ns = 0, took_ns = 0; // of CLOCK_MONOTONIC
};
static_assert(sizeof(EventValue) == 32);

template <class Value>
struct Guarded { // one writer at a time
    static_assert(sizeof(Value) % 4 == 0);
    std::atomic<uint32_t> sequence;
    std::atomic<uint32_t> words[sizeof(Value) / 4];
};
using BlockRow = Guarded<BlockValue>;
using EventRow = Guarded<EventValue>;
static_assert(sizeof(BlockRow) == 16);

struct TierRow {
    Word present, emulated; // 0 or 1
    Word capacity, used;    // bytes
    Word unusable;          // free bytes in holes too small for the largest block
    Word blocks, pinned;
    char medium[40]; // "DRAM, node 0"; written once, before the page is shown
};

struct ThreadRow {
    Word tid;      // 0: none
    Word beats;    // grows with each round of its loop
    Word beat_ns;  // when it last did
    char name[24]; // written once
};

struct LockRow {
    Word holder;   // tid, 0: free
    Word since_ns; // when it was taken
    Word waiting;  // threads
    char name[24]; // written once
};

struct SchedulerRow { // thresholds as they hold now, in millionths
    Word t_hbm, t_hbf, t_cold;
    Word full, crowded;     // pressure modes, 0 or 1
    Word half_life_milli;   // requests, of heat in HBM; 0: not known
    Word half_life_adapted; // 0 or 1
    Word sequences, queries;
};

inline constexpr uint32_t tier_room = 3, thread_room = 16, lock_room = 8, event_room = 256;

struct Header {
    char magic[8];
    uint32_t version, header_size; // bytes
    uint64_t page_size;            // bytes, all of it
    uint32_t pid, block_room;      // rows after the header
    uint64_t opened_ns;            // CLOCK_MONOTONIC
    char name[64];                 // of the model
    char policy[24];
    Word clock_ns; // when anything was last written
    Word counters[counter_room];
    TierRow tiers[tier_room];
    ThreadRow threads[thread_room];
    LockRow locks[lock_room];
    SchedulerRow scheduler;
    Word block_end;   // numbers of blocks that there ever were are below it
    Word event_count; // ever written; the newest is at (event_count - 1) % event_room
    EventRow events[event_room];
};
static_assert(offsetof(Header, clock_ns) % 8 == 0);

} // namespace hbf::kv::observe
