// SPDX-License-Identifier: Apache-2.0
// Whether the host's memory is what the driver says it is: seen by device and CPU alike, with nothing to flush.
#pragma once

#include <string>

#include "plugins/nvidia/context.hpp"

namespace hbf::nvidia {

// Passes bytes from the CPU to the device and back, through the same registered pages more than once, so that a line that
// somebody kept shows. "", or what did not arrive, or why it could not be tried. Blocks for at most some seconds.
std::string try_host_memory(Context &context);

} // namespace hbf::nvidia
