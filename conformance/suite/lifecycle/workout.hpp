// SPDX-License-Identifier: Apache-2.0
// A short life of an instance: regions in every tier, a queue, a fill and a copy whose bytes are looked at.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/suite/device.hpp"

namespace hbf::conformance {

// "" if all went as it must, else what did not. `seed` chooses the bytes.
std::string workout(const Instance &device, uint64_t seed, uint64_t bytes = 64 * 1024);

} // namespace hbf::conformance
