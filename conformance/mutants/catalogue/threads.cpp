// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/catalogue.hpp"

namespace hbf::conformance::catalogue {

std::vector<Mutant> threads() {
    return {
        {.name = "m44_not_thread_safe",
         .description = "of batches submitted at the same moment one is lost",
         .fault = "not-thread-safe",
         .killers = {"threads.parallel_submit_8x", "threads.create_destroy_race", "lifecycle.instance.many_independent"}},
        {.name = "alloc_not_thread_safe",
         .description = "two allocations at the same moment get the same region",
         .fault = "alloc-race",
         .killers = {"threads.alloc_free_race"}},
    };
}

} // namespace hbf::conformance::catalogue
