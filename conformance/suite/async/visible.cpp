// SPDX-License-Identifier: Apache-2.0
// A value that has completed is there to be seen: by the CPU, and by commands of other queues.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 4u << 20;

// Mostly what a key-value cache moves, now and then what no executor does inside submit. Multiples of 4.
uint64_t some_size(Random &random) {
    switch (random.below(16)) {
    case 0:
        return 4 * random.between(1u << 18, region_size / 4);
    case 1:
    case 2:
        return 4 * random.between(1u << 14, 1u << 18);
    default:
        return 4 * random.between(1, 1u << 14);
    }
}

kernels::PatternKey key_of(const Context &context, uint64_t round) {
    return {static_cast<uint32_t>(context.seed()), static_cast<uint32_t>(round), false};
}

// A round's copy, handed from the thread that submits to the one that looks.
struct Handover {
    std::atomic<uint64_t> round{0}, looked{0}; // of the copy to come; of the last one that was looked at
    std::atomic<bool> stop{false};
    uint64_t value = 0, size = 0;
};

struct Stopped { // whichever way its thread ends, the other does not wait for it
    Handover &handover;
    ~Stopped() { handover.stop = true; }
};

void spin_until(const std::atomic<uint64_t> &what, uint64_t value, const std::atomic<bool> &stop) {
    while (what.load(std::memory_order_acquire) < value && !stop) std::this_thread::yield();
}

void spin_until_completed(Context &context, const Instance &device, hbf_queue *queue, uint64_t value) {
    hbf_progress now{};
    const auto completed = [&] {
        now = device.poll(queue);
        return now.completed >= value;
    };
    look_until(completed, value);
    expect(context, now.failed == 0, fault::wrong_status, "a copy between good ranges failed, as value {}", now.failed);
}

// The tail first: what is still on its way is there last.
void look(Context &context, const Instance &device, const hbf_region_info &dst, uint64_t size,
          const kernels::PatternKey &key) {
    const auto *bytes = static_cast<const std::byte *>(dst.address);
    const uint64_t tail = std::min<uint64_t>(size, 64);
    const char *const when = "read at once after its value completed";
    expect_pattern(context, device, dst, size - tail, bytes + size - tail, tail, key, size - tail, fault::early_completion,
                   when);
    expect_pattern(context, device, dst, 0, bytes, size, key, 0, fault::early_completion, when);
}

void watch_tier(Context &context, const Instance &device, uint32_t tier, uint64_t rounds) {
    Regions regions(device);
    const hbf_region_info src = regions.make(device.cpu_tier(), region_size), dst = regions.make(tier, region_size);
    Queue queue(device);
    Handover handover;
    run_threads(2, [&](unsigned thread) {
        const Stopped stopped{handover};
        ByteAccess access(device);
        if (thread == 0) {
            Random random(context.seed() + tier);
            for (uint64_t round = 1; round <= rounds && !handover.stop; ++round) {
                const uint64_t size = some_size(random);
                const kernels::PatternKey key = key_of(context, round);
                write_pattern(access, src, 0, size, key, 0);
                write_pattern(access, dst, 0, size, poison_of(key), 0);
                handover.value = round; // values count 1, 2, 3: it can be waited for before submit returns
                handover.size = size;
                handover.round.store(round, std::memory_order_release);
                device.must_submit(queue, {copy_command(dst.region, 0, src.region, 0, size)});
                spin_until(handover.looked, round, handover.stop);
            }
            return;
        }
        for (uint64_t round = 1; round <= rounds; ++round) {
            spin_until(handover.round, round, handover.stop);
            if (handover.stop) return;
            spin_until_completed(context, device, queue, handover.value);
            access.refresh(dst, 0, handover.size); // what a software domain asks of a reader; else nothing
            look(context, device, dst, handover.size, key_of(context, round));
            handover.looked.store(round, std::memory_order_release);
        }
    });
}

} // namespace

HBF_CASE("async.fence.not_signalled_before_visible",
         {.rules = {"HBF-QUEUE-3"},
          .kills = {"m05_early_complete", "polled_value_failed", "a100_completes_early", "hip_event_skips_copies",
                    "mi300x_event_query_lies"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    for (const uint32_t tier : device.dma_tiers())
        if (device.cpu_access(tier)) watch_tier(context, device, tier, context.scaled(150, 3000, 60000));
}

// Nobody orders the second queue after the first but the host, who saw the value complete.
HBF_CASE("async.fence.visible_to_other_queues",
         {.rules = {"HBF-QUEUE-3"},
          .kills = {"m05_early_complete", "early_in_storage", "m06_never_complete", "a100_event_early"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    for (const uint32_t tier : device.dma_tiers()) {
        Regions regions(device);
        const hbf_region_info src = regions.make(device.cpu_tier(), region_size), middle = regions.make(tier, region_size),
                              dst = regions.make(device.cpu_tier(), region_size);
        Queue first(device), second(device);
        ByteAccess access(device);
        Random random(context.seed() + tier);
        const uint64_t rounds = context.scaled(device.cpu_access(tier) ? 60 : 20, 1000, 20000);
        for (uint64_t round = 1; round <= rounds; ++round) {
            const uint64_t size = some_size(random);
            const kernels::PatternKey key = key_of(context, round);
            write_pattern(access, src, 0, size, key, 0);
            write_pattern(access, middle, 0, size, poison_of(key), 0);
            write_pattern(access, dst, 0, size, poison_of(key), 0);
            const uint64_t value = device.must_submit(first, {copy_command(middle.region, 0, src.region, 0, size)});
            spin_until_completed(context, device, first, value);
            device.must_run(second, {copy_command(dst.region, 0, middle.region, 0, size)});
            access.refresh(dst, 0, size);
            expect_pattern(
                context, device, dst, 0, static_cast<const std::byte *>(dst.address), size, key, 0, fault::early_completion,
                fmt::format("copied on by another queue once its value in {} had completed", device.tier(tier).name));
        }
    }
}

} // namespace hbf::conformance
