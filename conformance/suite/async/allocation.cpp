// SPDX-License-Identifier: Apache-2.0
// Submit is paid for each granule moved: a warmed one takes no memory, nor do poll and wait.
#include "conformance/suite/allocation.hpp"

#include "conformance/suite/async/expect.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t piece = 65536;

struct Counts {
    uint64_t submit = 0, poll = 0, wait = 0;
};

// Without the suite's own wrappers: those make messages. `large` is the size that no executor moves inside submit.
Counts go(Context &context, const Instance &device, hbf_queue *queue, const std::vector<hbf_command> &commands,
          uint64_t rounds) {
    const hbf_queue_ext &table = device.queue_table();
    hbf_batch batch{};
    batch.struct_size = sizeof batch;
    batch.command_stride = sizeof(hbf_command);
    batch.commands = commands.data();
    batch.command_count = commands.size();
    Counts out;
    for (uint64_t i = 0; i < rounds; ++i) {
        const AllocationWatch watch;
        uint64_t value = 0;
        const hbf_status submitted = table.submit(queue, &batch, &value, nullptr);
        const uint64_t after_submit = watch.made_here();
        hbf_progress progress{};
        progress.struct_size = sizeof progress;
        (void)table.poll(queue, &progress);
        const uint64_t after_poll = watch.made_here();
        const hbf_status waited = table.wait(queue, value, 10'000'000'000, nullptr);
        const uint64_t after_wait = watch.made_here();
        must(submitted, "submit of a legal batch");
        must(waited, "wait for a legal batch");
        context.count_check();
        out.submit += after_submit, out.poll += after_poll - after_submit, out.wait += after_wait - after_poll;
    }
    return out;
}

} // namespace

HBF_CASE("async.submit.allocates_nothing",
         {.rules = {"HBF-QUEUE-9"}, .kills = {"submit_allocates"}, .needs = need::cpu_tier}) {
    Instance &device = context.device();
    uint64_t seen = 0;
    {
        const AllocationWatch watch;
        Queue another(device);
        seen = watch.made();
    }
    if (seen == 0)
        context.not_observable(
            "creating a queue allocated nothing that can be counted here (a heap of the plugin's own, or a "
            "sanitizer's): then nothing says that submit would be");
    for (const uint32_t tier : device.dma_tiers()) {
        Regions regions(device);
        const hbf_region_info dst = regions.make(tier, 2u << 20), src = regions.make(device.cpu_tier(), 2u << 20);
        Queue queue(device, 0, 32);
        const std::vector<hbf_command> small = {copy_command(dst.region, 0, src.region, 0, piece), barrier_command(),
                                                fill_command(dst.region, piece, 4096, 7, 8)},
                                       large = {copy_command(dst.region, 0, src.region, 0, 2u << 20)}, none = {};
        std::vector<hbf_command> many;
        for (uint64_t i = 0; i < 32; ++i) many.push_back(copy_command(dst.region, i * piece, src.region, i * piece, piece));
        for (const auto &batch : {small, large, many, none}) {
            (void)go(context, device, queue, batch, 20); // warm: every place of the queue was used
            const uint64_t depth = std::min(device.queue_info().max_depth, 128u);
            (void)go(context, device, queue, none, depth);
            const Counts counts =
                go(context, device, queue, batch, context.scaled(device.cpu_access(tier) ? 50 : 10, 500, 5000));
            expect(context, counts.submit == 0 && counts.poll == 0 && counts.wait == 0, fault::contract,
                   "warmed, with batches of {} commands to {}: submit allocated {} blocks of memory, poll {}, wait {}",
                   batch.size(), device.tier(tier).name, counts.submit, counts.poll, counts.wait);
        }
    }
}

} // namespace hbf::conformance
