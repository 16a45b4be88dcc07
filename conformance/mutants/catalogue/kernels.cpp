// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/catalogue.hpp"

namespace hbf::conformance::catalogue {
namespace {

// What find and name tell.
void add_told(std::vector<Mutant> &out) {
    struct Told {
        std::string_view name, description, fault;
        bool of_unknown = false;
    };
    for (const Told &one : std::initializer_list<Told>{
             {"kernel_id_changes", "a kernel has another id each time it is found", "kernel-told-wrong,what=id-changes"},
             {"kernel_listed_not_found", "a kernel that is listed is not found", "kernel-told-wrong,what=listed-not-found"},
             {"kernel_listed_twice", "a kernel is listed twice, another not at all", "kernel-told-wrong,what=listed-twice"},
             {"kernel_more_arguments", "a kernel says that it takes more arguments", "kernel-told-wrong,what=arguments"},
             {"kernel_more_buffers", "a kernel says that it takes a buffer more", "kernel-told-wrong,what=buffers"},
             {"kernel_no_groups", "of a kernel no group runs", "kernel-told-wrong,what=no-groups"},
             {"kernel_no_id", "one kernel is found and has the id 0", "kernel-told-wrong,what=no-id,count=2"},
             {"kernel_no_items", "a kernel takes no work-item", "kernel-told-wrong,what=no-items"},
             {"kernel_other_name", "a kernel that is found calls itself another", "kernel-told-wrong,what=other-name"},
             {"kernel_past_the_end", "there is a name beyond the last kernel", "kernel-told-wrong,what=past-the-end"},
             {"kernel_same_id", "all kernels have one id", "kernel-told-wrong,what=same-id"},
             {"kernel_without_version", "kernels are listed without their version", "kernel-told-wrong,what=no-version"},
             {"kernels_none_listed", "launch is declared, and no kernel listed", "kernel-told-wrong,what=none-listed"},
             {"kernels_one_too_many", "one kernel more is counted than there are", "kernel-told-wrong,what=one-too-many"},
             {"kernel_prefix_ok", "the beginning of a name is enough", "kernel-told-wrong,what=prefix-ok", true},
             {"kernel_refused_as_internal", "a name that is none is refused with HBF_INTERNAL",
              "wrong-status,call=find,from=unsupported,to=internal", true},
             {"kernel_refused_with_id", "a name that is none is refused and leaves an id",
              "kernel-told-wrong,what=refused-with-id", true},
             {"kernel_refused_without_message", "a name that is none is refused without a word",
              "error-without-message,call=find", true},
             {"kernel_tail_ignored", "what stands behind a name is not looked at", "kernel-told-wrong,what=tail-ignored",
              true},
             {"kernel_unknown_ok", "any name is found", "kernel-told-wrong,what=unknown-ok", true},
             {"kernel_version_ignored", "any version of a name is found", "kernel-told-wrong,what=version-ignored", true}})
        out.push_back({.name = one.name,
                       .description = one.description,
                       .fault = one.fault,
                       .killers = {one.of_unknown ? "kernels.find.unknown_refused" : "kernels.find.listed_are_found"}});
}

// Launches that are taken and must not be, or the other way about.
void add_unchecked(std::vector<Mutant> &out) {
    struct Unchecked {
        std::string_view name, description, fault;
    };
    for (const Unchecked &one : std::initializer_list<Unchecked>{
             {"launch_arguments_size_ok", "a launch with more or fewer arguments is taken",
              "launch-unchecked,what=arguments-size"},
             {"launch_beyond_ok", "a launch with a buffer that leaves its region is taken", "launch-unchecked,what=beyond"},
             {"launch_buffer_count_ok", "a launch with more or fewer buffers is taken",
              "launch-unchecked,what=buffer-count"},
             {"launch_empty_ok", "a launch with an empty buffer is taken", "launch-unchecked,what=empty"},
             {"launch_group_too_large_ok", "a launch of groups over the limit is taken",
              "launch-unchecked,what=group-too-large"},
             {"launch_largest_refused", "a launch of the largest group is refused", "launch-refused,what=largest-group"},
             {"launch_last_byte_refused", "a launch with a buffer that ends with its region is refused",
              "launch-refused,what=last-byte"},
             {"launch_no_access_ok", "a launch with a buffer of no access is taken", "launch-unchecked,what=access"},
             {"launch_no_groups_ok", "a launch without groups is taken", "launch-unchecked,what=no-groups"},
             {"launch_no_items_ok", "a launch without work-items is taken", "launch-unchecked,what=no-items"},
             {"launch_not_reached_ok", "a launch with a region that no kernel reaches is taken",
              "launch-unchecked,what=not-reached"},
             {"launch_null_ok", "a launch with a NULL for buffers or arguments is taken", "launch-unchecked,what=null"},
             {"launch_one_item_refused", "a launch of one work-item is refused", "launch-refused,what=one-item"},
             {"launch_stale_ok", "a launch with a freed region is taken", "launch-unchecked,what=stale"},
             {"launch_unaligned_ok", "a launch with a buffer at an odd offset is taken", "launch-unchecked,what=unaligned"},
             {"launch_unknown_access_ok", "a launch with unknown bits of access is taken",
              "launch-unchecked,what=access-unknown"},
             {"launch_unknown_kernel_ok", "a launch of a kernel that is none is taken", "launch-unchecked,what=kernel"},
             {"launch_wraps_ok", "a launch with a buffer whose end wraps past 2^64 is taken",
              "launch-unchecked,what=wraps"}})
        out.push_back({.name = one.name,
                       .description = one.description,
                       .fault = one.fault,
                       .killers = {"kernels.launch.bad_refused"}});
}

} // namespace

std::vector<Mutant> kernels() {
    std::vector<Mutant> out = {
        {.name = "kernels_reach_no_tier",
         .description = "launch is declared, and kernels reach no tier",
         .fault = "kernel-told-wrong,what=no-tier",
         .killers = {"kernels.copy.same_as_engine"}},
        {.name = "launch_arguments_of_before",
         .description = "a launch runs with the arguments of the one before of its kernel",
         .fault = "launch-wrong,what=arguments",
         .killers = {"kernels.copy.same_as_engine", "kernels.twin.same_bytes"}},
        {.name = "launch_buffers_swapped",
         .description = "the first two buffers of a launch are exchanged",
         .fault = "launch-wrong,what=swapped",
         .killers = {"kernels.copy.same_as_engine"}},
        {.name = "launch_completes_early",
         .description = "the value of a launch counts as completed before it has begun",
         .fault = "early-completion,kind=launch",
         .killers = {"kernels.launch.visible_after_completion"}},
        {.name = "launch_flips_bit",
         .description = "one bit of what a launch writes is flipped",
         .fault = "launch-result-wrong,what=bit",
         .killers = {"kernels.twin.same_bytes"}},
        {.name = "launch_flips_exponent",
         .description = "one bit of an exponent of what a launch writes is flipped",
         .fault = "launch-result-wrong,what=bit,bit=27",
         .killers = {"kernels.twin.floats_within_bound"}},
        {.name = "launch_free_in_flight_ok",
         .description = "a region that a launch in flight names can be freed",
         .fault = "free-in-flight-ok,by=launch",
         .killers = {"kernels.free.in_flight_refused_or_waits"}},
        {.name = "launch_group_missing",
         .description = "the last group of a launch does not run",
         .fault = "launch-wrong,what=last-group",
         .killers = {"kernels.twin.same_bytes"}},
        {.name = "launch_keeps_head",
         .description = "the start of what a launch writes keeps what it held",
         .fault = "launch-result-wrong,what=head",
         .killers = {"kernels.twin.same_bytes"}},
        {.name = "launch_keeps_tail",
         .description = "the end of what a launch writes keeps what it held",
         .fault = "launch-result-wrong,what=tail",
         .killers = {"kernels.copy.same_as_engine", "kernels.twin.floats_within_bound", "kernels.twin.same_bytes"}},
        {.name = "launch_nothing",
         .description = "a launch does nothing",
         .fault = "launch-wrong,what=nothing",
         .killers = {"kernels.copy.same_as_engine", "kernels.launch.bad_refused", "kernels.launch.visible_after_completion",
                     "kernels.order.values_of_a_queue_conflict", "kernels.twin.floats_within_bound",
                     "kernels.twin.same_bytes"}},
        {.name = "launch_offset_wrong",
         .description = "a launch's last buffer lies 8 bytes beside its place",
         .fault = "launch-wrong,what=offset",
         .killers = {"kernels.copy.same_as_engine", "kernels.launch.guard_bytes_untouched"}},
        {.name = "launch_one_dimension",
         .description = "of a launch in three dimensions only the first is run",
         .fault = "launch-wrong,what=one-dimension",
         .killers = {"kernels.twin.same_bytes"}},
        {.name = "launch_read_only_changed",
         .description = "a launch changes a byte of a buffer that it only reads",
         .fault = "launch-result-wrong,what=read-only",
         .killers = {"kernels.copy.same_as_engine", "kernels.launch.guard_bytes_untouched"}},
        {.name = "engine_flips_beside_kernel",
         .description = "one bit of what a copy wrote is wrong, and a kernel's copy is right",
         .fault = "flip",
         .killers = {"kernels.copy.same_as_engine"}},
        {.name = "launch_reads_arguments_late",
         .description = "the arguments of a launch are read after submit has returned",
         .fault = "launch-reads-late,what=arguments",
         .killers = {"kernels.launch.arguments_copied_by_submit"}},
        {.name = "launch_reads_buffers_late",
         .description = "the list of a launch's buffers is read after submit has returned",
         .fault = "launch-reads-late,what=buffers",
         .killers = {"kernels.launch.arguments_copied_by_submit"}},
        {.name = "launch_refused_though_declared",
         .description = "launch is declared, and a launch says HBF_UNSUPPORTED",
         .fault = "declared-missing,what=launch",
         .killers = {"kernels.find.listed_are_found"}},
        {.name = "launch_reordered",
         .description = "a launch and the next value of its queue run in each other's place",
         .fault = "reorder,kind=launch",
         .killers = {"kernels.order.values_of_a_queue_conflict"}},
        {.name = "launch_writes_before",
         .description = "a launch changes bytes before a buffer that it writes",
         .fault = "launch-result-wrong,what=before",
         .killers = {"kernels.launch.guard_bytes_untouched"}},
        {.name = "launch_writes_beyond",
         .description = "a launch changes bytes behind a buffer that it writes",
         .fault = "launch-result-wrong,what=beyond",
         .killers = {"kernels.launch.guard_bytes_untouched"}},
    };
    add_told(out);
    add_unchecked(out);
    return out;
}

} // namespace hbf::conformance::catalogue
