// SPDX-License-Identifier: Apache-2.0
// Made and ended a thousand times: what each time leaves behind would be a thousand by then.
#include <algorithm>
#include <fstream>

#include <unistd.h>

#include "conformance/suite/abi/operations.hpp"
#include "conformance/suite/allocation.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/lifecycle/workout.hpp"
#include "conformance/suite/visible.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t most = 1000;
constexpr uint64_t least = 20; // whatever the time: enough to tell one each from none

uint64_t mapped_bytes() {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void leaked(std::string detail, std::string_view tier = {}) {
    Evidence evidence;
    evidence.fault_class = fault::leak;
    evidence.tier = tier;
    evidence.detail = detail;
    fail(std::move(detail), std::move(evidence));
}

// Instances: blocks of memory, descriptors, threads.
void check_instances(Context &context) {
    Subject &subject = context.subject();
    const auto live_and_die = [&] {
        create_without_log(subject); // the log's lines are ours, and would count
    };
    for (int i = 0; i < 3; ++i) live_and_die(); // what a driver keeps for ever, once
    const Visible before = look_after_joins(look(), 3);
    AllocationWatch watch;
    uint64_t rounds = 0;
    while (rounds < least || (rounds < most && context.time_left())) {
        live_and_die();
        ++rounds;
    }
    const int64_t blocks = watch.live();
    const Visible after = look_after_joins(before, 3);
    context.count_check();
    if (blocks >= static_cast<int64_t>(rounds))
        leaked(fmt::format("{} instances made and destroyed left {} blocks of memory behind", rounds, blocks));
    const std::string change = first_change(before, after);
    context.count_check();
    if (!change.empty()) leaked(fmt::format("{} instances made and destroyed: {}", rounds, change));
    context.note(fmt::format("{} instances made and destroyed, {} of {} in the time there was", rounds, rounds, most));
}

// Regions and queues of an instance that lives on.
void check_regions(Context &context, Instance &device) {
    for (uint32_t tier = 0; tier < device.tiers().size(); ++tier) {
        const hbf_tier_info &info = device.tier(tier);
        const uint64_t size = std::max<uint64_t>(info.granule, 64 * 1024);
        const uint64_t rounds = context.scaled(200, most, 10 * most);
        const auto round = [&] { device.must_free(device.must_alloc(tier, size).region); };
        for (int i = 0; i < 10; ++i) round();
        const auto series = [&] { // by how many bytes more is mapped afterwards
            const uint64_t mapped = mapped_bytes();
            for (uint64_t i = 0; i < rounds; ++i) round();
            return std::max(mapped, mapped_bytes()) - mapped;
        };
        const uint64_t available = device.describe(tier).available;
        const Visible before = look();
        AllocationWatch watch;
        uint64_t grown = series();
        const int64_t blocks = watch.live();
        const uint64_t available_after = device.describe(tier).available;
        // A thread's first malloc maps 128 MiB, once; a leak goes on.
        if (grown > rounds * size / 2) grown = std::min(grown, series());
        context.count_check();
        if (blocks >= static_cast<int64_t>(rounds))
            leaked(fmt::format("{} regions of {} made and freed left {} blocks of memory behind", rounds, info.name, blocks),
                   info.name);
        context.count_check();
        if (grown > rounds * size / 2)
            leaked(fmt::format("{} regions of {} bytes of {} made and freed, and {} more bytes are mapped", rounds, size,
                               info.name, grown),
                   info.name);
        // Of files and disks others take and give at the same time.
        const bool shared = info.media == HBF_MEDIA_FILE || info.media == HBF_MEDIA_BLOCK ||
                            info.media == HBF_MEDIA_OBJECT || info.reality == HBF_REALITY_REAL;
        context.count_check();
        if (!shared && available_after + rounds * size / 2 < available)
            leaked(fmt::format("{} regions of {} bytes of {} made and freed, and {} bytes less are available", rounds, size,
                               info.name, available - available_after),
                   info.name);
        const std::string change = first_change(before, look());
        context.count_check();
        if (!change.empty())
            leaked(fmt::format("{} regions of {} made and freed: {}", rounds, info.name, change), info.name);
    }
    AllocationWatch watch;
    const uint64_t rounds = context.scaled(200, most, 10 * most);
    for (uint64_t i = 0; i < rounds; ++i) device.must_destroy_queue(device.must_create_queue());
    context.count_check();
    if (watch.live() >= static_cast<int64_t>(rounds))
        leaked(fmt::format("{} queues made and destroyed left {} blocks of memory behind", rounds, watch.live()));
}

HBF_CASE("lifecycle.instance.create_destroy_1000_no_leak",
         {.rules = {"HBF-LIFE-8"},
          .kills = {"leak_on_destroy", "leak_descriptor", "leak_block_on_free", "leak_descriptor_on_free",
                    "leak_block_on_queue", "leak_mapping_on_free", "freed_not_available", "m20_leak_on_free"},
          .budget_s = 0.8}) {
    check_instances(context);
    const auto device = create_without_log(context.subject());
    check_regions(context, *device);
}

} // namespace
} // namespace hbf::conformance
