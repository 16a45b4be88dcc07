// SPDX-License-Identifier: Apache-2.0
// Which ranges of the host's memory this process has registered with the runtime through us.
//
// HIP registers a range once a process, for all devices, and refuses what it knows already. But each instance of each device
// may be given the same memory, or a part of it. So ranges are counted here.
#pragma once

#include <cstdint>

namespace hbf::amd {

void register_range(void *address, uint64_t size); // throws sdk::Failure
void unregister_range(void *address, uint64_t size) noexcept;

} // namespace hbf::amd
