// SPDX-License-Identifier: Apache-2.0
// An instance's threads end with it, and begin with it.
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/lifecycle/workout.hpp"
#include "conformance/suite/visible.hpp"

namespace hbf::conformance {
namespace {

constexpr double limit_s = 3; // for the kernel to take away what was joined

HBF_CASE("lifecycle.instance.destroy_joins_threads", {.rules = {"HBF-LIFE-8"}, .kills = {"m42_thread_left_after_destroy"}}) {
    Subject &subject = context.subject();
    const Visible before = look();
    uint64_t most = before.threads.size();
    Visible first;
    for (int round = 0; round < 3; ++round) {
        const auto device = subject.must_create();
        workout(*device, context.seed(), "an instance");
        // Destroyed with work on its way and everything still open.
        hbf_queue *const queue = device->must_create_queue();
        const uint64_t bytes = 1 << 20;
        const uint32_t tier = device->dma_tiers().at(0);
        const hbf_region_info from = device->must_alloc(tier, bytes), to = device->must_alloc(tier, bytes);
        for (int i = 0; i < 4; ++i) device->must_submit(queue, {copy_command(to.region, 0, from.region, 0, bytes)});
        most = std::max<uint64_t>(most, look().threads.size());
        subject.plugin().destroy(device->release());
        if (round == 0) first = look();
    }
    const std::string change = left_behind(before, first, limit_s);
    context.check(change.empty(), "after an instance was destroyed with work on its way: {}", change);
    context.note(fmt::format("an instance ran {} threads of its own", most - before.threads.size()));
}

} // namespace
} // namespace hbf::conformance
