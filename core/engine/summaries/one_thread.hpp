// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

namespace hbf::kv::summaries {

// While it lives, what this thread asks of FAISS is done by this thread.
class OneThread {
public:
    OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(before_); }
    OneThread(const OneThread &) = delete;
    OneThread &operator=(const OneThread &) = delete;

private:
    int before_;
};

} // namespace hbf::kv::summaries
