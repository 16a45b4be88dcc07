// SPDX-License-Identifier: Apache-2.0
// What a driver says of the memory that host and device use side by side, tried before anybody relies on it.
#pragma once

#include "plugins/level_zero/context.hpp"

namespace hbf::level_zero {

// Bytes that the CPU writes go into the device and back, twice through the same places, by each engine that copies for a
// queue. Throws UNAVAILABLE where others arrive: then caches do not agree as the driver says. Nothing where it claims
// nothing.
void prove_host_memory(Context &context, bool copy_engine);

} // namespace hbf::level_zero
