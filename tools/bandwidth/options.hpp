// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hbf::tools::bandwidth {

struct Options {
    std::vector<std::string> tiers; // names or kinds; empty: all
    std::string device;             // id or name; "": all
    bool matrix = false, bidirectional = false, sweep = false, latency = false;
    std::string pages = "best"; // of memory buffers: 4k, thp, 2m, 1g or best
    uint64_t size = 0;          // bytes of each buffer, 0: enough to defeat the cache
    uint64_t op_size = 1 << 20; // bytes of one copy command
    uint64_t depth = 8;         // batches in flight
    uint64_t batch = 0;         // copies in a batch at most, 0: 256 or what the queue takes
    uint64_t samples = 30;
    double seconds = 0;   // of all rows together, 0: 20, and 60 with --sweep
    double warm_up = 0;   // seconds of each row at most, 0: a tenth of its share, at least half a second, at most half of it
    double target_ci = 0; // percent, 0: none
    uint64_t seed = 0;    // 0: chosen and printed
    bool no_affinity = false;
    std::string numa = "local"; // "all": from every node
    uint64_t launches = 1;      // processes, each with a run of its own
    uint64_t launch_seed = 0;   // not 0: this is such a process, its seed
    bool json = false, csv = false, jsonl = false, verbose = false;
    std::string output, profile;
    std::vector<std::string> arguments; // as given, for the report
};

} // namespace hbf::tools::bandwidth
