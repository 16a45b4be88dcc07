// SPDX-License-Identifier: Apache-2.0
// Sized structs: read and written as far as the host says they go, never as far as the plugin knows them.
#include "conformance/suite/abi/sized_calls.hpp"
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

Evidence broken(const SizedCall &one, std::string detail) {
    Evidence evidence;
    evidence.fault_class = fault::contract;
    evidence.detail = one.name + ": " + std::move(detail);
    return evidence;
}

void require(Context &context, bool good, const SizedCall &one, std::string detail) {
    context.count_check();
    if (good) return;
    Evidence evidence = broken(one, std::move(detail));
    const std::string reason = evidence.detail;
    fail(reason, std::move(evidence));
}

HBF_CASE("abi.struct.input_short_fields_default",
         {.rules = {"HBF-ABI-4"}, .kills = {"m34_reads_past_struct_size", "larger_minimum_of_inputs"}}) {
    Instance &device = context.device();
    const Queue queue(device);
    for (const SizedCall &one : sized_calls(context.subject(), device, queue)) {
        if (one.direction != Direction::in) continue;
        for (uint32_t size = one.min_size; size <= one.known_size; size += 8) {
            const auto got = one.shortened(size);
            require(context, !got.touched, one,
                    fmt::format("struct_size is {}, and byte {} was read", size, size + got.touched.value_or(0)));
            require(context, got.call.ok(), one,
                    fmt::format("refused at struct_size {} (the frozen minimum is {}): {}", size, one.min_size,
                                to_string(got.call)));
        }
    }
}

HBF_CASE("abi.struct.output_not_written_past_size",
         {.rules = {"HBF-ABI-5"},
          .kills = {"m33_writes_past_struct_size", "larger_minimum_of_outputs", "output_dropped", "tail_written",
                    "struct_size_written", "probe_output_dropped", "alloc_output_dropped", "tier_output_dropped",
                    "domain_output_dropped", "idle_queue_failed"}}) {
    Instance &device = context.device();
    const Queue queue(device);
    for (const SizedCall &one : sized_calls(context.subject(), device, queue)) {
        if (one.direction != Direction::out) continue;
        const auto exact = one.shortened(one.min_size);
        require(context, !exact.touched, one,
                fmt::format("struct_size is {}, and byte {} was touched", one.min_size,
                            one.min_size + exact.touched.value_or(0)));
        require(context, exact.call.ok(), one,
                fmt::format("refused at its frozen minimum of {} bytes: {}", one.min_size, to_string(exact.call)));
        require(context, exact.wrong.empty(), one, fmt::format("at its minimum size it says {}", exact.wrong));
        const auto later = one.extended();
        require(context, later.tail_kept, one, "the tail of a later host's struct was written");
        require(context, later.size_kept, one, "struct_size of a later host's struct was changed");
    }
}

HBF_CASE("abi.struct.larger_unknown_tail_ignored", {.rules = {"HBF-ABI-6"},
                                                    .kills = {"m40_wrong_abi", "exact_struct_size", "larger_output_dropped",
                                                              "too_small_struct_ok", "read_before_size"}}) {
    Instance &device = context.device();
    const Queue queue(device);
    for (const SizedCall &one : sized_calls(context.subject(), device, queue)) {
        const auto later = one.extended();
        require(context, later.call.ok(), one,
                fmt::format("a later host's struct, {} bytes longer than today's, is refused: {}",
                            sizeof(Extended<hbf_error>::tail), to_string(later.call)));
        require(context, later.wrong.empty(), one, fmt::format("in a later host's struct it says {}", later.wrong));
        for (const uint32_t size : {one.min_size - 8, 8u}) { // aligned, and its end at the guard page
            const auto small = one.shortened(size);
            require(context, small.call.status == HBF_INVALID, one,
                    fmt::format("{} bytes are less than the frozen minimum of {}, and it says {}", size, one.min_size,
                                to_string(small.call)));
            require(context, !small.touched, one,
                    fmt::format("struct_size is {}, and byte {} was touched", size, size + small.touched.value_or(0)));
        }
    }
}

} // namespace
} // namespace hbf::conformance
