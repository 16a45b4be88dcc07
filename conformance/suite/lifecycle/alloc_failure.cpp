// SPDX-License-Identifier: Apache-2.0
// Memory runs out at every place where it can: an error each time, and nothing lost.
#include <algorithm>
#include <numeric>

#include "conformance/suite/abi/operations.hpp"
#include "conformance/suite/allocation.hpp"
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/visible.hpp"
#include "conformance/suite/whose_code.hpp"

namespace hbf::conformance {
namespace {

struct Attempt {
    hbf_status status = HBF_OK;
    bool happened = false;
    uint64_t made = 0; // allocations of the call, the failed one too
    std::string message;
    std::string unusable; // what the call made is not good
};

Attempt attempt(const Operation &operation, uint64_t nth) {
    static char text[1024];
    text[0] = '\0';
    hbf_error error{sizeof error, 0, text, sizeof text, 0, 0, HBF_NO_PLACE};
    Attempt result;
    {
        const AllocationWatch watch;
        FailAllocation failing(nth);
        result.status = operation.call(&error);
        failing.disarm();
        result.happened = failing.happened();
        result.made = watch.made_here();
    }
    if (result.status == HBF_OK)
        result.unusable = operation.undo();
    else
        result.message = text;
    return result;
}

void check_attempt(Context &context, const Operation &operation, uint64_t nth, const Attempt &result) {
    const std::string what = fmt::format("allocation {} of {} failed", nth, operation.name);
    Evidence evidence;
    const auto require = [&](bool good, std::string_view fault_class, std::string detail) {
        context.count_check();
        if (good) return;
        evidence.fault_class = fault_class;
        evidence.detail = detail;
        fail(std::move(detail), std::move(evidence));
    };
    require(result.status == HBF_OK || result.status == HBF_EXHAUSTED, fault::wrong_status,
            fmt::format("{}, and the answer is {}: {}", what, status_name(result.status), result.message));
    require(result.unusable.empty(), fault::swallowed, fmt::format("{}: {}", what, result.unusable));
    require(result.status == HBF_OK || !result.message.empty(), fault::contract,
            fmt::format("{}, and the answer has no message", what));
}

// Every place in turn, in an order of the seed's, as far as time goes.
struct Series {
    uint64_t done = 0, failed = 0;
    int64_t stayed = 0; // blocks
};

Series fail_each(Context &context, const Operation &operation, const std::vector<uint64_t> &order) {
    Series series;
    const AllocationWatch watch;
    for (const uint64_t nth : order) {
        if (series.done >= 16 && !context.time_left()) break;
        const Attempt result = attempt(operation, nth);
        series.failed += result.happened;
        check_attempt(context, operation, nth, result);
        ++series.done;
    }
    series.stayed = watch.live();
    return series;
}

// `kept`: blocks that one call keeps which does not fail.
bool leaks(const Series &series, int64_t kept) {
    const auto done = static_cast<int64_t>(series.done);
    return done > 0 && series.stayed > std::max<int64_t>(kept, 0) * done + done / 2;
}

// Returns how many places there are.
uint64_t fail_everywhere(Context &context, const Operation &operation, uint64_t &failed, uint64_t &left_out) {
    for (int i = 0; i < 2; ++i) { // what is taken once and kept
        const Attempt warm = attempt(operation, 0);
        must(Call{warm.status, warm.message}, "{}", operation.name);
    }
    attempt(operation, 1); // what the first exception takes once: an unwinder that is linked in sorts its tables
    const Visible before = look();
    const AllocationWatch watch;
    const uint64_t places = attempt(operation, 0).made;
    const int64_t kept = watch.live();
    std::vector<uint64_t> order(places);
    std::iota(order.begin(), order.end(), 1);
    Random random(context.seed());
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    Series series = fail_each(context, operation, order);
    failed += series.failed;
    left_out += places - series.done;
    // A driver's threads take and give back blocks at times of their own: a leak is there each time.
    for (int more = 0; more < 3 && leaks(series, kept) && !drivers().empty(); ++more)
        series = fail_each(context, operation, order);
    context.count_check();
    if (leaks(series, kept)) {
        Evidence evidence;
        evidence.fault_class = fault::leak;
        evidence.detail = fmt::format("memory ran out in {} calls of {}, and {} blocks stayed behind", series.done,
                                      operation.name, series.stayed);
        const std::string reason = evidence.detail;
        fail(reason, std::move(evidence));
    }
    const Visible after = look_after_joins(before, 3);
    const std::string change = first_change(before, after);
    context.check(change.empty(), "memory ran out in {} calls of {}: {}", series.done, operation.name, change);
    const Attempt again = attempt(operation, 0);
    context.check(again.status == HBF_OK && again.unusable.empty(), "after memory ran out in it, {} no longer works: {} {}",
                  operation.name, status_name(again.status), again.message);
    return places;
}

HBF_CASE("lifecycle.alloc_failure.each_nth_is_clean",
         {.rules = {"HBF-LIFE-6", "HBF-ABI-10", "HBF-ABI-12"},
          .kills = {"error_without_message", "m22_error_swallowed", "exhaustion_is_a_bug", "exhaustion_leaks",
                    "exhaustion_leaves_descriptor", "exhaustion_for_good", "probe_finds_nothing", "alloc_gives_nothing",
                    "queue_gives_nothing", "queue_destroy_denied", "alloc_swallows_exhaustion"},
          .budget_s = 1}) {
    const auto made = create_without_log(context.subject());
    Instance &device = *made;
    const Queue queue(device);
    uint64_t failed = 0, left_out = 0;
    for (const Operation &operation : operations(context.subject(), device, queue))
        fail_everywhere(context, operation, failed, left_out);
    if (failed == 0)
        context.not_observable("the plugin takes no memory through malloc or operator new that this program could fail");
    context.note(fmt::format("{} allocations were made to fail{}", failed,
                             left_out ? fmt::format("; {} more were left out for lack of time, chosen by the seed", left_out)
                                      : std::string()));
}

} // namespace
} // namespace hbf::conformance
