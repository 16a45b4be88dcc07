// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conformance/measure/splitmix.hpp"

namespace hbf::litmus {

using Random = SplitMix; // asked before each instance

} // namespace hbf::litmus
