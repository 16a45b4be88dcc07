// SPDX-License-Identifier: Apache-2.0
// The engine over a faulty device: whatever is asked of it, an answer is right or there is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/engine/model.hpp"
#include "hbf/status.hpp"

namespace hbf::campaign {

inline constexpr std::string_view no_fault = "none";

struct Round {
    uint64_t seed = 0;
    std::string fault;     // as the wrapper takes it, or no_fault
    bool verifies = false; // what is read in place
    uint64_t answers = 0;  // right ones
    uint64_t errors = 0;   // that were said
    uint64_t damaged = 0;  // copies that the engine found wrong
    std::string wrong;     // an answer that was not right: what, and when. "": none
    std::string no_cache;  // why there was no cache to ask
    std::string ended;     // how the process ended before its time: a signal, or that it had to be stopped
    bool emulated = false; // nothing of it is a statement about hardware
};

struct Files {
    std::string wrapper, plugin; // absolute paths
    std::string folder;          // for storage tiers
};

// The faults that a campaign draws from: all that may happen to bytes on their way, and to what is said of it.
const std::vector<std::string> &drawn_faults();
// Every fault that the wrapper has, as it is without parameters.
std::vector<std::string> all_faults();
// Why a process may end under this fault, nullptr: it may not. Of a plugin that does what no caller can survive.
const char *may_end_process(std::string_view fault);

// One of drawn_faults(), the same for the same seed.
std::string draw_fault(uint64_t seed);

// A round: `steps` operations on a new cache over the plugin with `round.fault`. Fills in the rest of `round`.
void run_round(const Files &files, unsigned steps, Round &round);
// The same in a process of its own, which is stopped after `seconds`. [no other thread]
void run_apart(const Files &files, unsigned steps, unsigned seconds, Round &round);

// The operations themselves.
void play(kv::KvCache cache, const Shape &shape, unsigned steps, Round &round);

} // namespace hbf::campaign
