// SPDX-License-Identifier: Apache-2.0
// What an append does: puts operations on the list's stream.
#pragma once

#include "conformance/emulators/level_zero/driver.hpp"

namespace hbf::emulated::l0 {

// One command with what it waits for and what it sets.
Result append(ze::List list, model::Operation &&operation, ze::Event signal, uint32_t count, ze::Event *waits);

} // namespace hbf::emulated::l0
