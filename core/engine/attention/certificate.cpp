// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/certificate.hpp"

#include <cmath>
#include <limits>

namespace hbf::kv {

Certificate certify(const Attended &attended) noexcept {
    constexpr double unit = 0x1p-23; // of processors that round products too; the others are twice as good
    // Sums of a block, then of 16 blocks on each of the fold's levels; exponentials, their arguments down to -87 rounded on
    // each level as well.
    const double terms = attended.block_tokens + 8 * 16 + 64;
    const double weight = std::expm1(2 * attended.score_rounding) + terms * unit + 8 * 87 * unit;
    if (!(weight < 0.5)) return {1, std::numeric_limits<double>::infinity()};
    const double left_out = attended.left_out / (1 - weight), missed = left_out / (1 + left_out);
    const double rounding = 2 * weight / (1 - weight) * attended.norm_attended;
    const double error = missed * (attended.norm_left_out + attended.norm_output + rounding) + rounding;
    if (!std::isfinite(error) || !std::isfinite(missed)) return {1, std::numeric_limits<double>::infinity()};
    return {missed, error};
}

} // namespace hbf::kv
