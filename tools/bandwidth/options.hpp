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
    bool matrix = false;
    uint64_t size = 0;          // bytes of each buffer, 0: enough to defeat the cache
    uint64_t op_size = 1 << 20; // bytes of one copy command
    uint64_t depth = 8;         // batches in flight
    uint64_t samples = 30;
    double seconds = 20;  // of all rows together
    double warm_up = 0;   // seconds of each row at most, 0: a tenth of its share, at least half a second
    double target_ci = 0; // percent, 0: none
    uint64_t seed = 0;    // 0: chosen and printed
    bool no_affinity = false;
    bool json = false, csv = false, verbose = false;
    std::string output, profile;
    std::vector<std::string> arguments; // as given, for the report
};

} // namespace hbf::tools::bandwidth
