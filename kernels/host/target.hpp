// SPDX-License-Identifier: Apache-2.0
// Which instruction set the kernels run on: chosen once, from what this CPU has.
#pragma once

#include <string_view>
#include <vector>

namespace hbf::kernels {

// Name of the variant in use, for instance "AVX3_DL", "AVX2", "NEON". Static storage.
const char *kernels_target() noexcept;

// Variants this CPU can run, best first. The last needs nothing beyond the architecture's baseline.
std::vector<const char *> kernels_targets();

// Uses the named variant from now on, "" the best one again; false if this CPU cannot run it. For tests and benchmarks:
// calls in progress finish with the variant they began with.
bool use_kernels_target(std::string_view name) noexcept;

} // namespace hbf::kernels
