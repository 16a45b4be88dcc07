// SPDX-License-Identifier: Apache-2.0
// For rows that speak of one core.
#pragma once

#include <sched.h>

namespace hbf::bench {

// This thread, and what it starts, on one CPU: the last it may use, which is rarely where the rest of the machine is.
class OneCpu {
public:
    OneCpu() {
        sched_getaffinity(0, sizeof before_, &before_);
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &before_)) last_ = cpu;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(last_, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~OneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
    OneCpu(const OneCpu &) = delete;
    OneCpu &operator=(const OneCpu &) = delete;
    int cpu() const { return last_; }

private:
    cpu_set_t before_{};
    int last_ = 0;
};

} // namespace hbf::bench
