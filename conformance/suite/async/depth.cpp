// SPDX-License-Identifier: Apache-2.0
// A full queue pushes back: nothing of the batch is begun, nothing is lost, and it is taken later.
#include <cstring>

#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/async/expect.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t piece = 4096;

// Fills a queue of `depth` that waits for work of another one, then drains it and looks at what arrived.
// False: it was never full.
bool fill_and_drain(Context &context, const Instance &device, Backlog &backlog, uint32_t depth, uint32_t round) {
    const uint32_t most = device.queue_info().max_depth, room = most + 2;
    Regions regions(device);
    ByteAccess access(device);
    const hbf_region_info src = regions.make(device.cpu_tier(), room * piece),
                          dst = regions.make(device.cpu_tier(), room * piece);
    const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), round, false};
    write_pattern(access, src, 0, room * piece, key, 0);
    write_pattern(access, dst, 0, room * piece, poison_of(key), 0);
    const auto copy = [&](uint64_t slot) { return copy_command(dst.region, slot * piece, src.region, slot * piece, piece); };

    Queue queue(device, depth);
    const uint64_t work = backlog.add();
    uint64_t taken = 0;
    const auto expect_next = [&](uint64_t value) {
        expect(context, value == taken + 1, fault::order, "submit returned {} where {} is the next value", value, taken + 1);
    };
    Call refusal;
    for (; taken < room; ++taken) {
        uint64_t value = 0;
        std::vector<hbf_command> batch = {copy(taken)};
        if (taken == 0) batch.insert(batch.begin(), wait_command(backlog.queue(), work)); // holds back all that follow
        refusal = device.submit(queue, batch, value);
        if (!refusal.ok()) {
            expect(context, value == 0, fault::contract, "a refused submit leaves value {} behind", value);
            break;
        }
        expect_next(value);
    }
    const auto all_arrived = [&](uint64_t values) {
        device.must_complete(queue, values);
        access.refresh(dst, 0, values * piece);
        for (uint64_t slot = 0; slot < values; ++slot)
            expect_pattern(context, device, dst, slot * piece, static_cast<const std::byte *>(dst.address) + slot * piece,
                           piece, key, slot * piece, fault::swallowed,
                           fmt::format("value {} of a queue {} deep completed, and its batch was lost", slot + 1, depth));
    };
    if (refusal.ok()) {
        all_arrived(taken);
        return false;
    }
    context.check_status(refusal, HBF_EXHAUSTED, "submit to a full queue");
    expect(context, taken >= depth, fault::contract, "a queue made for {} values in flight is full with {}", depth, taken);
    const bool held = device.poll(backlog.queue()).completed < work; // then nothing can have run
    if (held) {
        access.refresh(dst, taken * piece, piece);
        expect_pattern(context, device, dst, taken * piece, static_cast<const std::byte *>(dst.address) + taken * piece,
                       piece, poison_of(key), taken * piece, fault::contract,
                       "the batch that a full queue refused was begun");
    }
    // One more than had completed by then: what the first one waited for may be over, and others may have come and gone.
    device.must_complete(queue, std::min(device.poll(queue).completed + 1, taken));
    uint64_t value = 0;
    must(device.submit(queue, {copy(taken)}, value), "the refused batch, once a value has completed");
    expect_next(value);
    all_arrived(taken + 1);
    return true;
}

} // namespace

HBF_CASE("async.depth.limit_backpressure_not_loss",
         {.rules = {"HBF-QUEUE-7"},
          .kills = {"m22_error_swallowed", "full_queue_drops", "depth_overstated", "refused_submit_leaves_value",
                    "value_told_wrong", "full_with_one", "full_as_busy", "too_deep_queue_ok"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    Backlog backlog(device, 0.02);
    const uint32_t most = device.queue_info().max_depth;
    uint64_t full = 0;
    uint32_t round = 0;
    for (const uint32_t depth : {1u, 2u, std::min(most, 7u), std::min(most, 64u), most}) {
        if (depth > most) continue;
        for (uint64_t i = 0; i < context.scaled(2, 10, 100); ++i)
            full += fill_and_drain(context, device, backlog, depth, ++round);
    }
    hbf_queue *queue = nullptr;
    context.check_status(device.create_queue(queue, most + 1), HBF_INVALID, "create of a queue deeper than max_depth");
    context.metric({"async.depth.times_full", "1", static_cast<double>(full)});
    if (full == 0) nothing_pending(context);
}

namespace {

// What a queue made for `commands` takes, and what it does with one more.
void fill_batch(Context &context, const Instance &device, uint32_t commands) {
    Regions regions(device);
    const uint64_t bytes = (uint64_t{commands} + 1) * 64;
    const hbf_region_info region = regions.make(device.cpu_tier(), bytes);
    ByteAccess access(device);
    const std::vector<std::byte> zero(bytes);
    for (const uint32_t count : {commands, commands + 1}) {
        access.write(region, 0, zero);
        Queue queue(device, 0, commands);
        std::vector<hbf_command> batch;
        for (uint64_t i = 0; i < count; ++i) batch.push_back(fill_command(region.region, i * 64, 64, i + 1, 8));
        uint64_t value = 0;
        const Call call = device.submit(queue, batch, value);
        if (!call.ok()) {
            context.check_status(call, count > commands ? HBF_INVALID : HBF_OK,
                                 fmt::format("submit of {} commands to a queue made for {}", count, commands));
            device.must_run(queue, {fill_command(region.region, 0, 64, 1, 8)}); // goes on
            continue;
        }
        // A queue may hold more than was asked for; what it takes it does.
        device.must_complete(queue, value);
        const auto bytes_now = access.read(region, 0, count * 64);
        for (uint64_t i = 0; i < count; ++i) {
            uint64_t word = 0;
            std::memcpy(&word, bytes_now.data() + i * 64, 8);
            expect(context, word == i + 1, fault::not_written, "command {} of a batch of {} did not run", i + 1, count);
        }
    }
}

} // namespace

HBF_CASE("async.queue.limits_hold",
         {.rules = {"HBF-QUEUE-7", "HBF-ABI-13"},
          .kills = {"queue_place_leaks", "queues_overstated", "batch_cut_at_4", "refused_queue_left",
                    "no_queue_left_as_busy", "refused_as_internal", "queue_over_limit_ok", "queue_refused_as_internal"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    const hbf_queue_info &info = device.queue_info();
    hbf_queue *queue = nullptr;
    if (info.max_commands < UINT32_MAX) {
        context.check_status(device.create_queue(queue, 0, info.max_commands + 1), HBF_INVALID,
                             "create of a queue for larger batches than max_commands");
        expect(context, queue == nullptr, fault::contract, "a refused create leaves a queue behind");
    }
    fill_batch(context, device, std::min(info.max_commands, 8u));
    // All places are there, one more is refused, and those that are given back can be had again.
    std::vector<hbf_queue *> queues;
    const uint32_t most = std::min(info.max_queues, 1024u);
    struct Destroy {
        const Instance &device;
        std::vector<hbf_queue *> &queues;
        ~Destroy() {
            for (hbf_queue *const one : queues) (void)device.destroy_queue(one);
        }
    } destroy{device, queues};
    for (int round = 0; round < 2; ++round) {
        while (queues.size() < most) queues.push_back(device.must_create_queue(1, 1));
        if (most == info.max_queues)
            context.check_status(device.create_queue(queue, 1, 1), HBF_EXHAUSTED,
                                 "create of one queue more than max_queues");
        device.must_run(queues.back(), {});
        for (uint32_t i = 0; i < std::min(most, 8u); ++i) {
            device.must_destroy_queue(queues.back());
            queues.pop_back();
        }
    }
}

} // namespace hbf::conformance
