// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/threads.hpp"

#include <barrier>
#include <exception>
#include <thread>
#include <vector>

#include <sched.h>

namespace hbf::conformance {

void run_threads(unsigned count, const std::function<void(unsigned)> &body) {
    std::vector<std::exception_ptr> errors(count);
    std::barrier start(static_cast<std::ptrdiff_t>(count));
    {
        std::vector<std::jthread> threads;
        threads.reserve(count);
        for (unsigned i = 0; i < count; ++i)
            threads.emplace_back([&, i] {
                start.arrive_and_wait();
                try {
                    body(i);
                } catch (...) {
                    errors[i] = std::current_exception();
                }
            });
    }
    for (const std::exception_ptr &error : errors)
        if (error) std::rethrow_exception(error);
}

unsigned usable_cpus() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
    const unsigned all = std::thread::hardware_concurrency(); // more CPUs than a cpu_set_t holds
    return all ? all : 1;
}

} // namespace hbf::conformance
