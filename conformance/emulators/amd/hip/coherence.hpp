// SPDX-License-Identifier: Apache-2.0
// The coherence class of an allocation (HIP documentation, "Coherence control"): how it is kept, and what is said of it.
#pragma once

#include <optional>

#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::emulated::hip {

// How pinned host memory with these flags of hipHostMalloc is kept; nothing: as the profile says of the device.
std::optional<model::Coherence> host_coherence(model::Device &device, unsigned int flags);
CoherencyMode mode_of(const model::BlockInfo &block); // as hipMemRangeGetAttribute says

} // namespace hbf::emulated::hip
