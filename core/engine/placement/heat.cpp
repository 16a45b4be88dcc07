// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/heat.hpp"

namespace hbf::kv::placement {

const std::array<uint32_t, curve_steps + 2> log_sum_curve = [] {
    std::array<uint32_t, curve_steps + 2> curve{};
    for (size_t i = 0; i + 2 < curve.size(); ++i) {
        const double apart = static_cast<double>(i << curve_bits) / static_cast<double>(octave);
        curve[i] = static_cast<uint32_t>(std::log2(1 + std::exp2(-apart)) * static_cast<double>(octave));
    }
    return curve; // the last two are zero
}();

} // namespace hbf::kv::placement
