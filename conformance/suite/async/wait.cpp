// SPDX-License-Identifier: Apache-2.0
// Waiting: for how long, and for what.
#include "conformance/measure/clock.hpp"
#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/async/expect.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t ms = 1'000'000;

double elapsed_of(const auto &call) {
    const auto begin = measure::Clock::now();
    call();
    return measure::seconds_between(begin, measure::Clock::now());
}

void expect_refused(Context &context, const Instance &device, hbf_queue *queue, uint64_t value, std::string_view what) {
    context.check_status(device.wait(queue, value, 0), HBF_INVALID, fmt::format("wait for {}", what));
    if (device.capabilities() & need::cancel)
        context.check_status(device.cancel(queue, value), HBF_INVALID, fmt::format("cancel of {}", what));
}

} // namespace

// Time is judged against the work only: a deadline of a fiftieth of it must be seen to pass at least once.
HBF_CASE("async.wait.timeout_honoured",
         {.rules = {"HBF-QUEUE-6"},
          .kills = {"m06_never_complete", "timeout_ignored", "timeout_too_early", "m29_free_while_in_flight_ok",
                    "timeout_as_busy", "wait_at_once", "busy_free_as_internal"}}) {
    Instance &device = context.device();
    constexpr uint64_t short_ns = 2 * ms;
    Backlog backlog(device, 0.1);
    unsigned timeouts = 0, pendings = 0;
    double longest = 0;
    const unsigned rounds = static_cast<unsigned>(context.scaled(6, 60, 600));
    uint64_t value = 0;
    const auto timed = [&](uint64_t nanoseconds) {
        const Call call = device.wait(backlog.queue(), value, nanoseconds);
        if (!call.ok()) context.check_status(call, HBF_TIMEOUT, "wait for work that lasts longer");
        return call;
    };
    for (unsigned round = 0; round < rounds; ++round) {
        value = backlog.add();
        if (backlog.pending(value)) {
            (void)timed(0);
            ++pendings;
        }
        if (!backlog.pending(value)) continue;
        Call call;
        const double took = elapsed_of([&] { call = timed(short_ns); });
        if (call.ok()) {
            longest = std::max(longest, took);
            expect(context, !backlog.pending(value), fault::early_completion,
                   "wait says that value {} completed, poll that it did not", value);
        } else {
            ++timeouts;
            expect(context, took >= 0.9e-9 * short_ns, fault::contract,
                   "wait was given {} ns and says HBF_TIMEOUT after {:.0f} ns: the deadline had not passed", short_ns,
                   took * 1e9);
            // Still pending: so are its regions.
            const Call freed = device.free(backlog.destination().region);
            context.check_status(freed, HBF_BUSY, "free of a region in use by work that a wait gave up on");
        }
        device.must_complete(backlog.queue(), value);
    }
    device.must_complete(backlog.queue(), value); // and it completes after all
    context.metric({"async.wait.timeouts", "1", static_cast<double>(timeouts)});
    if (pendings == 0) nothing_pending(context);
    // A thread that was not run may come back late; not each time, by as much as the work.
    expect(context, timeouts > 0 || longest < 0.5 * backlog.expected_s(), fault::contract,
           "no wait of {} ms ever came back before work of {:.0f} ms was done: the deadline is ignored", short_ns / ms,
           backlog.expected_s() * 1e3);
}

HBF_CASE("async.wait.unreturned_value_refused",
         {.rules = {"HBF-QUEUE-5"},
          .kills = {"unreturned_wait_ok", "unreturned_command_ok", "unreturned_cancel_ok", "refused_submit_leaves_value",
                    "failure_of_nothing", "last_refusal_spends_value", "refused_as_internal"}}) {
    Instance &device = context.device();
    Regions regions(device);
    const hbf_region_info region = regions.make(device.dma_tiers().at(0), 4096);
    Queue queue(device), other(device);
    uint64_t next = 1;
    for (int round = 0; round < 3; ++round) {
        expect_refused(context, device, queue, next, "the value to come");
        expect_refused(context, device, queue, 0, "value 0");
        expect_refused(context, device, queue, UINT64_MAX, "the last value there can be");
        // As commands: the batch is refused as a whole, and spends no value.
        for (hbf_queue *const waited : {static_cast<hbf_queue *>(queue), static_cast<hbf_queue *>(other)})
            for (const uint64_t value : {next, uint64_t{0}, UINT64_MAX}) {
                uint64_t got = 0;
                const Call call =
                    device.submit(queue, {fill_command(region.region, 0, 64, 0xee, 1), wait_command(waited, value)}, got);
                context.check_status(call, HBF_INVALID,
                                     fmt::format("submit of a wait for value {} that was never returned", value));
                expect(context, got == 0, fault::contract, "a refused submit leaves value {} behind", got);
            }
        const uint64_t value = device.must_submit(queue, {fill_command(region.region, 0, 64, 0x11, 1)});
        expect(context, value == next, fault::order, "after refused batches submit returns {} where {} is due", value, next);
        device.must_complete(queue, value);
        must(device.wait(queue, value, 0), "wait for a completed value");
        context.check_status(device.failure(queue), HBF_INVALID, "failure of a queue on which nothing failed");
        ++next;
        device.must_run(other, {});
    }
}

} // namespace hbf::conformance
