// SPDX-License-Identifier: Apache-2.0
// What the integrity cases share: a route for every pair of tiers, and the verdict on what came through.
#pragma once

#include <functional>

#include "conformance/integrity/route.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {

// 32 bits of the case's seed, for test data.
uint32_t data_seed(const Context &context);

// Calls body(route) for every ordered pair of the tiers that commands reach, each tier with itself too; the destination has
// its poison. Judges after each pair, so that the first wrong one ends the case.
void every_pair(Context &context, uint64_t bytes, const std::function<void(integrity::Route &)> &body);

// Metrics and series of what was compared; fails the case, with evidence, if anything was wrong.
void judge(Context &context, const integrity::Tally &tally);

// All passes of a pattern, `generations` times over.
void run_pattern(integrity::Route &route, integrity::Pattern pattern, uint32_t seed, uint32_t generations = 1);

} // namespace hbf::conformance
