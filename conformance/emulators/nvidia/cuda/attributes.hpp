// SPDX-License-Identifier: Apache-2.0
// What cuDeviceGetAttribute says of a device: what the machine's profile says, else what follows from it.
#pragma once

#include <optional>

#include "conformance/emulators/nvidia/cuda/api.hpp"
#include "conformance/sim/model/device.hpp"

namespace hbf::emulated::cuda {

std::optional<int> attribute_of(model::Device &device, int attribute);   // none: no such attribute
std::optional<int> pci_part(const model::Device &device, int attribute); // none: another attribute

inline bool has(model::Device &device, int attribute) {
    return attribute_of(device, attribute).value_or(0) != 0;
}

} // namespace hbf::emulated::cuda
