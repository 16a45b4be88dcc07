// SPDX-License-Identifier: Apache-2.0
// From samples to a verdict.
#pragma once

#include "tools/bandwidth/result.hpp"

namespace hbf::tools::bandwidth {

void summarize(Row &row); // fills the figures that follow from the samples

// The smaller of the bandwidths that its tiers declare as their most, nothing where neither does. [pure]
std::optional<Row::Limit> physical_limit(const Row &row, const Machine &machine);

// An impossible figure (above 1.5x the best reference) fails the test itself; a low one gets its likely causes.
void judge(Row &row, const Machine &machine);

// Compares with the floor the profile has for the row, if it has one.
void judge_floor(Row &row, const Machine &machine, const std::optional<Floor> &floor);

// GB/s that no honest device exceeds here: 1.5 times the fastest plain copy of the run. Nothing without references. [pure]
std::optional<double> highest_possible(const Row &row);

} // namespace hbf::tools::bandwidth
