// SPDX-License-Identifier: Apache-2.0
// The seeded choices of a simulated device.
#pragma once

#include "conformance/measure/splitmix.hpp"

namespace hbf::sim {

using Dice = SplitMix;

} // namespace hbf::sim
