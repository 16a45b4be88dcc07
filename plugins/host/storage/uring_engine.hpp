// SPDX-License-Identifier: Apache-2.0
// The engine on io_uring.
#pragma once

#include "engine.hpp"

namespace hbf::host {

// Throws sdk::Failure UNSUPPORTED or PERMISSION where the kernel has no io_uring good enough, or refuses it, saying why.
std::unique_ptr<Engine> make_uring_engine(uint32_t capacity);

} // namespace hbf::host
