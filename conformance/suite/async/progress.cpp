// SPDX-License-Identifier: Apache-2.0
// Values complete once, in order, as everybody sees it: progress never goes back, and never past what was submitted.
#include <atomic>
#include <thread>

#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

constexpr unsigned watchers = 3;

struct Shared {
    std::atomic<uint64_t> begun{0}; // submits entered
    std::atomic<uint64_t> seen{0};  // the most that anybody saw completed
    std::atomic<bool> over{false};
};

void raise_to(std::atomic<uint64_t> &most, uint64_t value) {
    uint64_t known = most.load();
    while (known < value && !most.compare_exchange_weak(known, value)) {
    }
}

// One look. What was seen before it began was seen for good.
uint64_t watch(Context &context, const Instance &device, hbf_queue *queue, Shared &shared) {
    const uint64_t before = shared.seen.load();
    const hbf_progress now = device.poll(queue);
    const uint64_t begun = shared.begun.load();
    if (now.completed != before) context.count_check(); // looks in between are not counted, there are millions
    if (now.completed < before || now.completed > begun)
        fail_as(fault::order,
                now.completed < before
                    ? fmt::format("progress went back: {} values had completed, then {}; a value completes once", before,
                                  now.completed)
                    : fmt::format("{} values completed where {} were submitted: one completed twice, or before it was there",
                                  now.completed, begun));
    if (now.failed != 0 || now.status != HBF_OK)
        fail_as(fault::wrong_status, fmt::format("poll tells of a failed value {} ({}), and nothing can have failed",
                                                 now.failed, status_name(now.status)));
    raise_to(shared.seen, now.completed);
    return now.completed;
}

void submit_all(Context &context, const Instance &device, hbf_queue *queue, const hbf_region_info &region, uint64_t count,
                Shared &shared) {
    Random random(context.seed());
    for (uint64_t value = 1; value <= count; ++value) {
        std::vector<hbf_command> batch;
        const uint64_t commands = random.below(4); // none, too: that is a value as well
        for (uint64_t i = 0; i < commands; ++i)
            batch.push_back(fill_command(region.region, 0, random.below(50) ? 4096 : region.size, value, 8));
        for (size_t i = batch.size(); i-- > 1;)
            batch.insert(batch.begin() + static_cast<std::ptrdiff_t>(i), barrier_command());
        shared.begun.store(value);
        uint64_t got = value - 1;
        submit_when_free(device, queue, batch, got);
        expect(context, got == value, fault::order, "submit returned {} where {} is the next value", got, value);
    }
}

} // namespace

// C7's async.fence.exactly_one_callback, as this ABI has it: plugins never call back, progress is polled.
HBF_CASE("async.fence.completes_exactly_once", {.rules = {"HBF-QUEUE-1", "HBF-THR-1"},
                                                .kills = {"m07_complete_twice", "empty_batch_refused", "values_skip",
                                                          "value_told_wrong", "poll_goes_back", "poll_fails_once"}}) {
    Instance &device = context.device();
    Regions regions(device);
    const hbf_region_info region = regions.make(device.dma_tiers().at(0), 2u << 20);
    Queue queue(device, 0, 8);
    const uint64_t count = context.scaled(1500, 30000, 1000000);
    Shared shared;
    run_threads(watchers + 1, [&](unsigned thread) {
        if (thread == 0) {
            struct Over {
                Shared &shared;
                ~Over() { shared.over = true; }
            } over{shared};
            submit_all(context, device, queue, region, count, shared);
            device.must_complete(queue, count);
            return;
        }
        while (!shared.over) {
            watch(context, device, queue, shared);
            if (thread > 1) std::this_thread::yield();
        }
    });
    raise_to(shared.seen, count);
    for (int look = 0; look < 200; ++look) (void)watch(context, device, queue, shared); // once more would show now
}

} // namespace hbf::conformance
