// SPDX-License-Identifier: Apache-2.0
// The architecture of a device, as compilers name it.
#pragma once

#include <string>
#include <string_view>

#include "plugins/amd/library.hpp"

namespace hbf::amd {

// "gfx942:sramecc+:xnack-"; "" where the runtime does not tell.
std::string architecture_of(const Hip &hip, int device);
// The last name of an architecture in these bytes; "" if there is none.
std::string architecture_in(std::string_view bytes);

} // namespace hbf::amd
