// SPDX-License-Identifier: Apache-2.0
// How wrong attention over some of the blocks can be, from what is known of the others.
//
// Let Z be the mass attended and U at least the mass left out. Then U / (Z + U) bounds the missed share of attention, and
// what is missed moves the output by at most that share of the way to where the values left out lie: at most their largest
// norm, plus the output's own. To this comes what fp32 rounds, in the scores, their exponentials and the sums.
#pragma once

#include <cstdint>

namespace hbf::kv {

struct Certificate {
    double missed = 0; // the share of attention mass that was left out is at most this
    double error = 0;  // Euclidean distance of this head's output from exact attention's is at most this
};

struct Attended {
    double left_out = 0;       // U / Z
    double norm_left_out = 0;  // largest norm of the values left out
    double norm_attended = 0;  // largest norm of the values attended
    double norm_output = 0;    // of the result
    double score_rounding = 0; // how far fp32 may be from any score (Estimate::rounding)
    uint32_t block_tokens = 0; // terms of the longest sum
};

// A member that is not finite, or not known, makes it say nothing: missed 1, error infinity.
Certificate certify(const Attended &attended) noexcept;

} // namespace hbf::kv
