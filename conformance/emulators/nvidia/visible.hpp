// SPDX-License-Identifier: Apache-2.0
// The machine's NVIDIA devices as CUDA_VISIBLE_DEVICES lets a process see them, and the names that it takes.
#pragma once

#include <string>
#include <vector>

#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated {

// Programming guide, "CUDA environment variables": a list of numbers or of beginnings of UUIDs ("GPU-8932f937"), in the
// order in which CUDA numbers them; what follows the first that names no device is not seen. Not set: all.
std::vector<int> visible_devices(const model::Machine &machine);

std::string uuid_text(const model::ProfileDevice &device); // "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
void uuid_bytes(const model::ProfileDevice &device, char out[16]);

} // namespace hbf::emulated
