// SPDX-License-Identifier: Apache-2.0
// Threads of a case: started together, joined always, and a verdict reached in one of them becomes the case's.
#pragma once

#include <cstdint>
#include <functional>

namespace hbf::conformance {

// Runs body(0) ... body(count - 1), each in a thread of its own, all released at the same moment. The first exception by
// thread number is thrown again once all have ended.
void run_threads(unsigned count, const std::function<void(unsigned)> &body);

unsigned usable_cpus(); // of this process's affinity mask

} // namespace hbf::conformance
