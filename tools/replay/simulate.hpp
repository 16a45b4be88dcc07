// SPDX-License-Identifier: Apache-2.0
// A trace against a policy. For each request in turn: the run of blocks that are here from the head on is usable; what is
// missing is admitted, as far as it fits; then the next. Nothing is warmed up and nothing left out.
#pragma once

#include "tools/replay/trace.hpp"

namespace hbf::replay {

struct Tally {
    uint64_t tokens = 0, usable = 0; // asked for; in the usable run
    uint64_t fast = 0;               // of the usable ones those of the upper level (with one level: all)
    uint64_t hits = 0, accesses = 0; // blocks that were here, in the run or behind a hole
    uint64_t up_blocks = 0, up_tokens = 0, down_blocks = 0, down_tokens = 0; // between two levels
    uint64_t admitted_tokens = 0; // written to the upper level, from below or computed

    double share() const { return tokens == 0 ? 0 : static_cast<double>(usable) / static_cast<double>(tokens); }
};

Tally replay(const Trace &trace, kv::placement::Policy &policy);

// Two levels. What is in the lower one comes up and its copy stays; what the upper one gives up is written down only if the
// lower one has no copy and its policy wants it.
Tally replay(const Trace &trace, kv::placement::Policy &upper, kv::placement::Policy &lower);

// Belady: who knows the future keeps what is needed soonest, the deepest going first, and admits nothing that is needed
// later than all that is here.
Tally replay_best(const Trace &trace, size_t capacity);

} // namespace hbf::replay
