// SPDX-License-Identifier: Apache-2.0
// Counts this thread's allocations through operator new, and makes the Nth of them fail. Linked into tests that ask for it.
#pragma once

#include <cstdint>

namespace hbf::testing {

uint64_t allocations() noexcept;             // by this thread, so far
void fail_allocation(uint64_t nth) noexcept; // 1: the next one; 0: none. Disarms itself when it struck
bool allocation_failed() noexcept;           // it struck since it was set

} // namespace hbf::testing
