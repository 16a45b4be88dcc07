// SPDX-License-Identifier: Apache-2.0
// A vendor's documents, misread in a plausible way. Where the runtime has the fault, it does what the misreading says and
// the plugin relies on the document; where the plugin would have to, the machine makes true what such a plugin would meet.
#include <iterator>

#include "conformance/mutants/catalogue/emulated.hpp"

namespace hbf::conformance::catalogue {

void add_misread_contracts(std::vector<Mutant> &out) {
    const Mutant all[] = {
        on_a100({.name = "cuda_batch_any_order",
                 .description = "cuMemcpyBatchAsync reads its sources when it is called, not in the stream's order",
                 .fault = "cuda-batch-any-order",
                 .killers = {"async.order.batch_reads_what_is_held_back"}}),
        on_a100(
            {.name = "cuda_pageable_late",
             .description = "memory that is not pinned is given to asynchronous copies, as if they read it when they run",
             .fault = "register-unpinned:after=2,count=1", // the first two are those that the plugin tries at open
             .killers = {"async.submit.registered_memory_holds_up_nobody"}}),
        on_mi300x({.name = "hip_event_skips_copies",
                   .description = "an event stands for the kernels ahead of it, not for copies",
                   .fault = "hip-event-skips-copies",
                   .killers = {"async.fence.not_signalled_before_visible"}}),
        on_mi300x({.name = "hip_fine_is_coarse",
                   .description = "pinned memory is kept as coarse-grained memory is, and said to be fine-grained",
                   .fault = "hip-fine-is-coarse",
                   .killers = {"coherence.host_kernel.stores_seen_while_it_runs"}}),
        on_mi300x({.name = "hip_pageable_late",
                   .description = "memory that is not pinned is given to asynchronous copies, as if they ran later",
                   .fault = "register-unpinned",
                   .killers = {"async.submit.registered_memory_holds_up_nobody"}}),
        on_mlu370({.name = "cnrt_failure_unsaid",
                   .description = "an asynchronous copy fails half way, and neither notifier nor queue says so",
                   .fault = "cnrt-failure-unsaid:rate=3",
                   .killers = {"dma.copy.d2d.same_tier"}}),
        on_mlu370({.name = "cnrt_wait_of_idle_queue",
                   .description = "a queue that is idle does not wait for a notifier",
                   .fault = "cnrt-wait-of-idle-queue",
                   .killers = {"async.order.batch_reads_what_is_held_back", "async.wait.holds_across_queues"}}),
        on_l0({.name = "ze_barrier_passes",
               .description = "what follows a barrier does not wait for the events that the barrier waits for",
               .fault = "ze-barrier-passes",
               .killers = {"async.order.batch_reads_what_is_held_back", "async.wait.holds_across_queues"}}),
        on_l0({.name = "ze_signal_early",
               .description = "a barrier's own event is set before the commands ahead of it are over",
               .fault = "ze-signal-early",
               .killers = {"async.order.barrier_kept_in_batch"}}),
    };
    out.insert(out.end(), std::begin(all), std::end(all));
}

} // namespace hbf::conformance::catalogue
