// SPDX-License-Identifier: Apache-2.0
// What a device is, for hipDeviceGetAttribute and for the structures of properties.
#pragma once

#include <optional>
#include <string>

#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::emulated::hip {

std::optional<int> attribute_of(model::Device &device, int attribute); // nothing: there is no such attribute

struct Architecture {
    int major = 0, minor = 0;
};
Architecture architecture_of(const model::Device &device);
std::string full_architecture(const model::Device &device); // "gfx942:sramecc+:xnack-"

} // namespace hbf::emulated::hip
