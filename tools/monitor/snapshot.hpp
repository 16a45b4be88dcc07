// SPDX-License-Identifier: Apache-2.0
// What a cache's page says at one moment, as plain values.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/observe/view.hpp"

namespace hbf::tools::monitor {

namespace observe = kv::observe;

struct TierNow {
    std::string name, medium; // "hbm", "DRAM, node 0"
    bool emulated = false;
    uint64_t capacity = 0, used = 0, unusable = 0; // bytes
    uint64_t blocks = 0, pinned = 0;
    std::array<uint64_t, 4> bands{}; // blocks of each band that have a copy here: hot, settled, warm, cold
    // Of what is free, the share in holes too small for the largest block.
    double fragmentation() const {
        return used < capacity ? static_cast<double>(unusable) / static_cast<double>(capacity - used) : 0;
    }
};

struct ThreadNow {
    std::string name;
    uint64_t tid = 0, beats = 0;
    double idle_seconds = 0; // since its last round
};

struct LockNow {
    std::string name;
    uint64_t holder = 0, waiting = 0;
    double held_seconds = 0;
};

struct Scheduler {
    double t_hbm = 0, t_hbf = 0, t_cold = 0;
    bool full = false, crowded = false;
    std::optional<double> half_life; // requests
    bool adapted = false;
    uint64_t sequences = 0, queries = 0;
};

struct Snapshot {
    observe::Process process;
    uint32_t pid = 0;
    std::string name, policy;
    double open_seconds = 0;
    std::array<uint64_t, static_cast<size_t>(observe::Counter::count)> counters{};
    std::vector<TierNow> tiers; // those that there are
    std::vector<ThreadNow> threads;
    std::vector<LockNow> locks;
    Scheduler scheduler;
    std::vector<observe::Event> events; // newest first
    uint64_t moves = 0;                 // ever
    uint64_t half_written = 0;          // blocks whose writer was stopped in the middle
    uint64_t now_ns = 0;                // CLOCK_MONOTONIC

    uint64_t count(observe::Counter counter) const { return counters[static_cast<size_t>(counter)]; }
    bool stopped() const { return process.state == 'T' || process.state == 't'; }
    bool gone() const { return process.state == '-' || process.state == 'Z'; }
    bool emulated() const;
    bool scored() const { return policy == "ahas"; } // other policies give blocks no score
};

Snapshot take(const observe::View &view);

std::string_view state_name(char state);                 // "running", "stopped", "gone"
std::string_view reason_name(observe::Reason reason);    // "hot"
std::string_view outcome_name(observe::Outcome outcome); // "done"
std::string_view band_name(unsigned band);
std::string_view tier_name(unsigned tier);
std::string tiers_text(uint8_t tiers); // "hbm+cold"
std::string_view counter_name(size_t counter);
std::string_view counter_help(size_t counter);

} // namespace hbf::tools::monitor
