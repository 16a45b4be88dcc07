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
        {.name = "free_clears_another",
         .description = "a free clears the first bytes of another region",
         .base = Base::host,
         .fault = "free-clears-another",
         .killers = {"threads.alloc_free_race"}},
        {.name = "queue_facts_change",
         .description = "the limits of queues change when they are asked for again",
         .fault = "queue-limit-overstated,what=depth,after=1",
         .killers = {"threads.parallel_submit_8x"}},
        {.name = "capacity_changes",
         .description = "the capacity of a tier changes when it is asked for again",
         .fault = "capacity-overstated,after=3",
         .killers = {"threads.parallel_submit_8x"}},
        {.name = "poll_fails_beside",
         .description = "one poll tells of a failed value of another thread's queue",
         .base = Base::host,
         .fault = "poll-wrong,what=failed,count=1",
         .killers = {"threads.parallel_submit_8x"}},
    };
}

} // namespace hbf::conformance::catalogue
