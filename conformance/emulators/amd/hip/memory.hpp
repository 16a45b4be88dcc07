// SPDX-License-Identifier: Apache-2.0
// What lies at an address, for the functions on memory.
#pragma once

#include <optional>

#include "conformance/emulators/amd/hip/streams.hpp"

namespace hbf::emulated::hip {

std::optional<model::BlockInfo> block_at(const void *pointer);
hipError_t give_back(const void *pointer, bool host); // of hipMalloc's kin, or of hipHostMalloc's

} // namespace hbf::emulated::hip
