// SPDX-License-Identifier: Apache-2.0
// What hbf replay says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/replay/capacity.hpp"
#include "tools/replay/simulate.hpp"

namespace hbf::replay {

struct Options {
    std::vector<std::string> traces, policies, capacities;
    std::string lower, format = "auto", output;
    double alpha = 0;
    uint64_t bytes_per_token = 128 << 10;
    bool json = false, plot = false;
};

struct Result {
    Capacity capacity;
    std::string policy;
    Tally tally;
    double half_life = 0; // of AHAS at the end, in requests; 0 for others
};
struct TraceResults {
    Trace trace; // without its accesses
    uint64_t tokens;
    std::optional<Capacity> lower;
    std::vector<std::pair<Capacity, Tally>> best; // Belady's, of one level, or of the lower one alone
    std::vector<Result> results;                  // by capacity, then policy
};

std::string report_text(const std::vector<TraceResults> &all, const Options &options);
std::string report_json(const std::vector<TraceResults> &all, const Options &options);
std::string plot_text(const TraceResults &results); // bars: what each policy serves, of what could be served

} // namespace hbf::replay
