// SPDX-License-Identifier: Apache-2.0
// This program's operator new, which is the plugin's too, as any host's is: counted, and made to fail on demand.
#pragma once

#include <atomic>

namespace sdk_test {

extern std::atomic<long> allocations;
extern std::atomic<long> fail_at; // the how-many-th allocation from now fails, 0: none

} // namespace sdk_test
