// SPDX-License-Identifier: Apache-2.0
// A batch is taken whole or not at all: where the bad command stands and what is bad about it makes no difference.
#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 64 << 10, piece = 1000, slot = 2048;
constexpr uint64_t good_commands = 20;

struct Bad {
    const char *what;
    hbf_command command;
};

std::vector<Bad> bad_commands(const Pair &pair, hbf_region stale) {
    const hbf_region to = pair.to.region, from = pair.from.region;
    hbf_command unknown = copy_command(to, 0, from, 0, 8);
    unknown.kind = 250;
    hbf_command flagged = copy_command(to, 0, from, 0, 8);
    flagged.flags = 1u << 30;
    return {{"a range that leaves its region", copy_command(to, region_size - 1, from, 0, 2)},
            {"a size of 0", copy_command(to, 0, from, 0, 0)},
            {"a freed region", copy_command(to, 0, stale, 0, 8)},
            {"a region of 0", fill_command(0, 0, 8, 1, 1)},
            {"an overlap", copy_command(to, 8, to, 0, 64)},
            {"an unknown kind", unknown},
            {"an unknown flag", flagged},
            {"a pattern of 3 bytes", fill_command(to, 0, 8, 1, 3)},
            {"a wait for a value not yet returned", wait_command(pair.queue, 1'000'000'000)}};
}

// What a good batch would do, at `place` of which stands the bad command.
std::vector<hbf_command> batch_with(const Pair &pair, const hbf_command &bad, uint64_t count, uint64_t place) {
    std::vector<hbf_command> out;
    for (uint64_t i = 0; i < count; ++i)
        out.push_back(copy_command(pair.to.region, i * slot, pair.from.region, i * slot + 7, piece));
    out[place] = bad;
    return out;
}

HBF_CASE("dma.batch.refused_leaves_nothing",
         {.rules = {"HBF-DMA-1", "HBF-ABI-13"},
          .kills = {"range_unchecked", "refused_batch_half_run", "refused_batch_spends_value", "refused_batch_value_set"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    for (const Route &route : routes_from_cpu(device)) {
        Pair pair(context, route, region_size, region_size, good_commands);
        const hbf_region_info gone = device.must_alloc(route.to, 4096);
        device.must_free(gone.region);
        uint64_t last = device.must_submit(pair.queue, {});
        device.must_complete(pair.queue, last);
        for (const Bad &bad : bad_commands(pair, gone.region)) {
            for (const uint64_t place : {uint64_t{0}, pair.most / uint64_t{2}, pair.most - uint64_t{1}}) {
                uint64_t value = 0;
                const Call call = device.submit(pair.queue, batch_with(pair, bad.command, pair.most, place), value);
                const std::string what =
                    fmt::format("a batch with {} as command {} of {}, {}", bad.what, place, pair.most, route.name());
                check_in(context, !call.ok() && value == 0, call.ok() ? fault::swallowed : fault::contract, route.to_name,
                         "{} was {}, and its value set to {}", what, call.ok() ? "accepted" : "refused", value);
            }
            // What an engine had begun would have ended by the completion of a later value.
            const uint64_t next = device.must_submit(pair.queue, {});
            check_in(context, next == last + 1, fault::contract, "",
                     "after batches refused for {} the next value is {}, not {}", bad.what, next, last + 1);
            device.must_complete(pair.queue, next);
            last = next;
            pair.run(context, {}, fmt::format("after batches refused for {}, {}", bad.what, route.name()));
        }
        pair.run(context, {pair.destination.copy_from(0, pair.source, 7, piece)}, "a good batch after bad ones");
    }
}

} // namespace
} // namespace hbf::conformance
