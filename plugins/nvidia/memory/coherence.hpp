// SPDX-License-Identifier: Apache-2.0
// Whether the host's memory is what the driver says it is: seen by device and CPU alike, with nothing to flush.
#pragma once

#include <string>

#include "plugins/nvidia/context.hpp"

namespace hbf::nvidia {

// Passes bytes from the CPU to the device and back, through the same registered pages more than once, so that a line that
// somebody kept shows. Blocks for at most some seconds.
//
// "", or why memory of the host cannot be registered, so that nothing was tried: the device can do without. Throws
// UNAVAILABLE where other bytes come back, for nothing that is said of such a device holds; DEVICE_LOST where it does no
// work; and what the driver says of a copy that fails.
std::string try_host_memory(Context &context);

} // namespace hbf::nvidia
