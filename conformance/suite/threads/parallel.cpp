// SPDX-License-Identifier: Apache-2.0
// Eight threads, a queue each, as the ABI allows: different queues run in parallel, [any-thread] calls at any time.
#include <atomic>
#include <memory>
#include <vector>

#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

constexpr unsigned threads = 8;
constexpr uint64_t slot_size = 65536;
constexpr uint64_t slots = 8;

void look_around(Context &context, const Instance &device, hbf_queue *someone_elses) {
    const hbf_queue_info info = [&] {
        hbf_queue_info out{};
        out.struct_size = sizeof out;
        ErrorBuffer error;
        must(error.call(device.queue_table().info(device.handle(), &out, error)), "queue info");
        return out;
    }();
    const bool same_table = device.extension("hbf.queue/1") == static_cast<const void *>(&device.queue_table());
    expect(context, info.max_depth == device.queue_info().max_depth && same_table, fault::contract,
           "queue info or its table changed");
    for (uint32_t tier = 0; tier < device.tiers().size(); ++tier)
        expect(context, device.describe(tier).capacity == device.tier(tier).capacity, fault::contract, "tier {} changed",
               tier);
    const hbf_progress now = device.poll(someone_elses);
    expect(context, now.failed == 0, fault::wrong_status, "value {} failed", now.failed);
}

} // namespace

// Each thread's bytes are its own, so whatever is wrong in them came from another.
HBF_CASE("threads.parallel_submit_8x", {.rules = {"HBF-THR-1"},
                                        .kills = {"m44_not_thread_safe", "value_told_wrong", "queue_facts_change",
                                                  "capacity_changes", "poll_fails_beside"},
                                        .needs = need::cpu_tier}) {
    Instance &device = context.device();
    const auto tiers = device.dma_tiers();
    const uint64_t rounds = context.scaled(40, 600, 10000);
    Regions regions(device);
    struct Own {
        hbf_region_info src, middle, dst;
        std::unique_ptr<Queue> queue;
    };
    std::vector<Own> own(threads);
    for (unsigned i = 0; i < threads; ++i) {
        own[i].src = regions.make(device.cpu_tier(), slots * slot_size);
        own[i].middle = regions.make(tiers[i % tiers.size()], slots * slot_size);
        own[i].dst = regions.make(device.cpu_tier(), slots * slot_size);
        own[i].queue = std::make_unique<Queue>(device, std::min(device.queue_info().max_depth, 64u));
    }
    std::atomic<bool> stop{false};
    run_threads(threads, [&](unsigned thread) {
        struct Stop {
            std::atomic<bool> &stop;
            bool good = false;
            ~Stop() {
                if (!good) stop = true; // the others need not go on
            }
        } guard{stop};
        const Own &mine = own[thread];
        hbf_queue *const queue = *mine.queue;
        ByteAccess access(device);
        Random random(context.seed() + thread);
        uint64_t next = 1;
        const bool storage = !device.cpu_access(mine.middle.tier);
        for (uint32_t round = 1; round <= (storage ? rounds / 4 : rounds) && !stop; ++round) {
            const kernels::PatternKey key{static_cast<uint32_t>(context.seed()) + thread, round, false};
            write_pattern(access, mine.src, 0, slots * slot_size, key, 0);
            write_pattern(access, mine.dst, 0, slots * slot_size, poison_of(key), 0);
            for (uint64_t slot = 0; slot < slots; ++slot) {
                const uint64_t at = slot * slot_size;
                const std::vector<hbf_command> batch = {
                    copy_command(mine.middle.region, at, mine.src.region, at, slot_size), barrier_command(),
                    copy_command(mine.dst.region, at, mine.middle.region, at, slot_size)};
                const uint64_t value = device.must_submit(queue, batch);
                expect(context, value == next, fault::order,
                       "thread {}: submit returned {} where {} is its queue's next value", thread, value, next);
                ++next;
            }
            look_around(context, device, *own[random.below(threads)].queue);
            device.must_complete(queue, next - 1);
            access.refresh(mine.dst, 0, slots * slot_size);
            expect_pattern(
                context, device, mine.dst, 0, static_cast<const std::byte *>(mine.dst.address), slots * slot_size, key, 0,
                fault::not_written,
                fmt::format("thread {} of {}, by way of {}", thread, threads, device.tier(mine.middle.tier).name));
        }
        guard.good = true;
    });
}

} // namespace hbf::conformance
