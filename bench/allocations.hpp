// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hbf::bench {

// Calls of malloc and its kin so far, by any code of this process: ours, libhbf's, the plugins'.
uint64_t allocations() noexcept;
// Of them those of the calling thread.
uint64_t allocations_of_thread() noexcept;

} // namespace hbf::bench
