// SPDX-License-Identifier: Apache-2.0
// From the records of a run to its verdict.
#pragma once

#include "conformance/runner/record.hpp"

namespace hbf::conformance {

// Was anything asked of the plugin, or was it only found that it could not be?
bool executed(Status status);

// Sums bits_compared and bit_errors from the cases, and makes the bound; then verdict and verdict_reason:
// interrupted, else a failure or nothing executed is "not conformant", else a failed self-test or an inconclusive case is
// "undecided". `left_out`: cases of the profile that a filter took away, for the sentence.
void decide(RunRecord &run, size_t left_out);

} // namespace hbf::conformance
