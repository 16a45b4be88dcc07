// SPDX-License-Identifier: Apache-2.0
// A row while it is being measured.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tools/bandwidth/options.hpp"
#include "tools/bandwidth/result.hpp"
#include "tools/bandwidth/workbench.hpp"

namespace hbf::tools::bandwidth {

struct Live {
    Row row;
    std::optional<measure::Transfer> transfer; // none for the sum of two directions
    std::vector<int> cpus;                     // where its copies run
    std::shared_ptr<measure::ReferenceTeam> team;
    uint64_t device_bytes = 0, timed_bytes = 0;
    bool storage_counted = true;
    double pass_seconds = 0; // of the last warm-up pass
    bool active() const { return row.status == Status::pass && transfer.has_value(); }
};

using Teams = std::map<std::vector<int>, std::shared_ptr<measure::ReferenceTeam>>; // by CPUs: rows share them

void give_up(Live &live, const Error &error);  // its status and reason from the error
void bind(Live &live, const Options &options); // this thread to the row's CPUs
void open(Live &live, Machine &machine, Workbench &bench, const Options &options, Teams &teams, uint32_t most_depth,
          uint32_t seed);

// Of `moved` bytes; `before` is the use of the CPUs when it began.
void record(Row &row, const measure::Sample &taken, uint64_t moved, const std::optional<measure::CpuUse> &before);
void sample(Live &live, Machine &machine);                // one, with one of each reference
void measure_latency(Live &live, const Options &options); // of one granule, after the samples
void finish(Live &live, const Machine &machine);          // placement, figures, verdict

} // namespace hbf::tools::bandwidth
