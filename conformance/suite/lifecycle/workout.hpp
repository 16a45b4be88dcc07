// SPDX-License-Identifier: Apache-2.0
// A short life of an instance: regions in every tier, a queue, a fill and a copy whose bytes are looked at.
#pragma once

#include <cstdint>
#include <string_view>

#include "conformance/suite/device.hpp"

namespace hbf::conformance {

// Fails the case, and says of `who`, unless all goes as it must. `seed` chooses the bytes.
void workout(const Instance &device, uint64_t seed, std::string_view who);

} // namespace hbf::conformance
