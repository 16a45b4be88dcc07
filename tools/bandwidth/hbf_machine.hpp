// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "hbf/system.hpp"
#include "tools/bandwidth/machine.hpp"

namespace hbf::tools::bandwidth {

// This host's devices through libhbf. `stop` ends a wait early, with Code::cancelled; a device that completes nothing for a
// minute is Code::timeout. `system` outlives it.
std::unique_ptr<Machine> make_hbf_machine(System &system, std::function<bool()> stop);

} // namespace hbf::tools::bandwidth
