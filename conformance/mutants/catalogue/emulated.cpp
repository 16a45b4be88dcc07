// SPDX-License-Identifier: Apache-2.0
// A vendor's plugin as it is shipped, over that vendor's runtime emulated: here what is wrong with the machine below it.
// Each fault stands on one vendor's machine; the plugins share what carries their batches. `after`: of what would spoil the
// bytes that NVIDIA's plugin tries at open, which would refuse the device.
#include "conformance/mutants/catalogue/emulated.hpp"

#include <iterator>

#include "conformance/mutants/catalogue.hpp"

namespace hbf::conformance::catalogue {
namespace {

void add_bytes(std::vector<Mutant> &out) {
    const Mutant all[] = {
        on_a100({.name = "a100_address_bit_ignored",
                 .description = "a copy ignores bit 12 of its destination's offset",
                 .fault = "address-bit",
                 .killers = {"dma.copy.random_ranges_against_model"}}),
        on_a100({.name = "a100_batch_without_its_last",
                 .description = "of a batch of copies the last is left out",
                 .fault = "batch-last",
                 .killers = {"dma.sg.order_and_gaps"}}),
        on_a100({.name = "a100_copies_the_wrong_way",
                 .description = "a copy inside the device goes the wrong way round",
                 .fault = "swapped",
                 .killers = {"dma.copy.d2d.same_tier"}}),
        on_a100({.name = "a100_ecc_unsaid",
                 .description = "a copy meets an uncorrectable error, and only the counters know",
                 .fault = "ecc-silent:after=30,rate=3",
                 .killers = {"dma.copy.d2d.same_tier"}}),
        on_a100({.name = "a100_size_truncated",
                 .description = "only the low 22 bits of a copy's size count",
                 .fault = "size-32",
                 .killers = {"async.order.barrier_kept_in_batch"}}),
        on_a100({.name = "a100_stuck_line",
                 .description = "bit 13 of every 32nd word of a copy reads as 1",
                 .fault = "stuck:after=30",
                 .killers = {"integrity.pattern.solid_and_checkerboard"}}),
        on_a100({.name = "a100_tail_rounded",
                 .description = "the size of a copy is rounded down to a multiple of 64",
                 .fault = "tail-rounded",
                 .killers = {"dma.sg.order_and_gaps"}}),
        on_a100({.name = "a100_writes_beside",
                 .description = "the byte after a copy's destination is written, too",
                 .fault = "writes-beside",
                 .killers = {"dma.copy.guard_bytes_untouched"}}),
        on_mi300x({.name = "mi300x_copy_lost",
                   .description = "a copy moves nothing, and all is said to be well",
                   .fault = "lost-copy:rate=3",
                   .killers = {"dma.copy.random_ranges_against_model"}}),
        on_mlu370({.name = "mlu370_fill_tail_kept",
                   .description = "a fill leaves what does not fill whole 16 bytes",
                   .fault = "fill-tail",
                   .killers = {"dma.fill.pattern_all_widths_odd_lengths"}}),
        on_mlu370({.name = "mlu370_flips",
                   .description = "one bit of what a copy wrote is wrong",
                   .fault = "flip:rate=3",
                   .killers = {"dma.copy.d2d.same_tier"}}),
        on_mlu370({.name = "mlu370_reads_beside",
                   .description = "a copy reads one byte further on",
                   .fault = "offset-one",
                   .killers = {"dma.copy.d2d.same_tier"}}),
        on_mlu370({.name = "mlu370_tail_dropped",
                   .description = "the last byte of a copy stays behind",
                   .fault = "drop-tail:value=1",
                   .killers = {"dma.copy.d2d.same_tier"}}),
    };
    out.insert(out.end(), std::begin(all), std::end(all));
}

void add_order(std::vector<Mutant> &out) {
    const Mutant all[] = {
        on_a100({.name = "a100_completes_early",
                 .description = "an operation is said to be over before it begins",
                 .fault = "early-completion:after=30",
                 .killers = {"async.fence.not_signalled_before_visible"}}),
        on_a100({.name = "a100_event_early",
                 .description = "an event is over before the work ahead of it",
                 .fault = "event-early",
                 .killers = {"async.fence.visible_to_other_queues"}}),
        on_a100({.name = "a100_never_completes",
                 .description = "an operation is never over",
                 .fault = "never-completes:after=20",
                 .killers = {"dma.copy.d2d.same_tier"},
                 .verdict = Status::timeout}),
        on_mi300x({.name = "mi300x_event_query_lies",
                   .description = "an event that is pending is said to be over",
                   .fault = "query-lies",
                   .killers = {"async.fence.not_signalled_before_visible"}}),
        on_mi300x({.name = "mi300x_operations_overtake",
                   .description = "an operation of a batch is overtaken by the next",
                   .fault = "reorder",
                   .killers = {"async.order.barrier_kept_in_batch"}}),
        on_mi300x({.name = "mi300x_wait_ignored",
                   .description = "one stream does not wait for another",
                   .fault = "wait-ignored",
                   .killers = {"async.order.batch_reads_what_is_held_back", "async.wait.holds_across_queues",
                               "kernels.order.waits_hold_across_queues"}}),
        on_mlu370({.name = "mlu370_host_function_early",
                   .description = "a host function runs before the work ahead of it",
                   .fault = "host-function-early",
                   .killers = {"dma.copy.random_ranges_against_model"}}),
        on_mlu370({.name = "mlu370_wait_ignored",
                   .description = "one queue does not wait for another",
                   .fault = "wait-ignored",
                   .killers = {"async.wait.holds_across_queues"}}),
    };
    out.insert(out.end(), std::begin(all), std::end(all));
}

void add_memory(std::vector<Mutant> &out) {
    const Mutant all[] = {
        on_a100({.name = "a100_reads_stale_lines",
                 .description = "lines of host memory that the device read before are not fetched again",
                 .fault = "stale-line:after=30",
                 .killers = {"dma.copy.random_ranges_against_model"}}),
        on_mi300x({.name = "mi300x_write_back_lost",
                   .description = "what a kernel wrote into coarse-grained memory is not written back at its end",
                   .fault = "write-back-lost",
                   .killers = {"kernels.launch.visible_after_completion"},
                   .options = {{"host_class", "coarse"}}}),
        on_mi300x({.name = "mi300x_invalidate_lost",
                   .description = "a kernel begins with stale lines of coarse-grained memory",
                   .fault = "invalidate-lost",
                   .killers = {"kernels.launch.visible_after_completion"},
                   .options = {{"host_class", "coarse"}}}),
        on_mlu370({.name = "mlu370_same_memory",
                   .description = "memory lies where the memory before it lies",
                   .fault = "same-memory",
                   .killers = {"tier.alloc.regions_do_not_overlap"}}),
        on_a100({.name = "a100_group_skipped",
                 .description = "the last group of a launch does not run",
                 .fault = "group-skipped",
                 .killers = {"kernels.twin.same_bytes"}}),
        on_mi300x({.name = "mi300x_launch_lost",
                   .description = "of a launch nothing runs, and all is said to be well",
                   .fault = "launch-lost",
                   .killers = {"kernels.copy.same_as_engine"}}),
    };
    out.insert(out.end(), std::begin(all), std::end(all));
}

} // namespace

Mutant on_machine(std::string_view vendor, std::string_view machine, Mutant mutant) {
    mutant.base = Base::emulated;
    mutant.vendor = vendor;
    mutant.machine = machine;
    return mutant;
}

std::vector<Mutant> emulated() {
    std::vector<Mutant> out;
    add_bytes(out);
    add_order(out);
    add_memory(out);
    add_misread_contracts(out);
    add_bad_runtimes(out);
    return out;
}

} // namespace hbf::conformance::catalogue
