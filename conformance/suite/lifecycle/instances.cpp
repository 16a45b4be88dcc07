// SPDX-License-Identifier: Apache-2.0
// Instances side by side: what happens to one does not reach another.
#include <memory>
#include <vector>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/lifecycle/workout.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

HBF_CASE("lifecycle.instance.many_independent",
         {.rules = {"HBF-LIFE-7"},
          .kills = {"instances_share_state", "instances_share_bytes", "instances_share_work", "instances_share_refusal",
                    "m44_not_thread_safe", "create_denied", "create_gives_nothing"}}) {
    Subject &subject = context.subject();
    constexpr unsigned count = 3;
    std::vector<std::unique_ptr<Instance>> all;
    for (unsigned i = 0; i < count; ++i) all.push_back(subject.must_create());
    // A create that fails leaves the next one, and the living ones, alone.
    hbf_instance *refused = nullptr;
    if (subject.create(refused, {{"no-such-option", "1"}}).ok()) subject.plugin().destroy(refused);
    all.push_back(subject.must_create());

    // At once, with data of their own.
    run_threads(static_cast<unsigned>(all.size()), [&](unsigned i) {
        const std::string who = fmt::format("{} instances at work at once, in instance {}", all.size(), i);
        for (uint64_t round = 0; round < context.scaled(4, 40, 400); ++round) {
            workout(*all[i], context.seed() + i * 1000 + round, who);
            context.count_check();
        }
    });

    // One goes: the bytes and queues of the others stay.
    Instance &stays = *all[1];
    {
        ByteAccess access(stays);
        Regions regions(stays);
        const Queue queue(stays);
        const hbf_region_info region = regions.make(stays.dma_tiers().at(0), 4096);
        std::vector<std::byte> bytes(4096);
        Random random(context.seed());
        for (std::byte &byte : bytes) byte = static_cast<std::byte>(random());
        access.write(region, 0, bytes);
        const uint64_t value = stays.must_submit(queue, {});
        all[0].reset();
        all[2].reset();
        stays.must_complete(queue, value);
        context.check(access.read(region, 0, bytes.size()) == bytes, "destroying an instance changed bytes of another");
        workout(stays, context.seed(), "after another instance was destroyed");
    }
}

} // namespace
} // namespace hbf::conformance
