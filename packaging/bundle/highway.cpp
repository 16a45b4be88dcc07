// SPDX-License-Identifier: Apache-2.0
// The one function of libhwy that kernels/host calls, for a bundle that cannot carry libhwy.
#include <hwy/targets.h>

#include "highway_targets.hpp"

namespace hwy {

int64_t SupportedTargets() {
    static const int64_t found = hbf::bundle::supported_targets();
    return found;
}

} // namespace hwy
