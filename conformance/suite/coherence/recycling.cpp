// SPDX-License-Identifier: Apache-2.0
// Frames that come and go: a granule's old place is poisoned, freed and given out again, and nobody who holds the new one
// ever meets poison, another granule or an older generation.
#include <thread>

#include "conformance/measure/clock.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/coherence/frames.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

// A granule in a region of its own, replaced at each move.
struct Mobile {
    uint64_t owner = 0, version = 1;
    Leases leases;
    std::array<hbf_region_info, Leases::most_frames> infos{};
    uint32_t now = 0;
};

class Recycler {
public:
    Recycler(const Context &context, const Instance &device, std::vector<uint32_t> tiers, uint64_t size)
        : device_(device), tiers_(std::move(tiers)), size_(size), queue_(device, 0, batch_room(device, 5)),
          random_(context.seed()) {
        for (Mobile &mobile : mobiles) {
            mobile.owner = 1 + static_cast<uint64_t>(&mobile - mobiles.data());
            mobile.infos[0] = device.must_alloc(tier(), size, 64);
            litmus::write_granule(bytes(mobile, 0), {mobile.owner, mobile.version});
            mobile.leases.publish(0);
        }
    }
    ~Recycler() {
        for (const Mobile &mobile : mobiles)
            if (mobile.infos[mobile.now].region) static_cast<void>(device_.free(mobile.infos[mobile.now].region));
    }
    Recycler(const Recycler &) = delete;
    Recycler &operator=(const Recycler &) = delete;

    std::span<std::byte> bytes(const Mobile &mobile, uint32_t frame) const { return {at(mobile.infos[frame], 0), size_}; }

    // Into a region allocated for it, the old one poisoned and freed once nobody holds it.
    void move(Mobile &mobile) {
        mobile.leases.let_use(2); // one of them began after all that happened so far
        const uint32_t from = mobile.now, to = (from + 1) % Leases::most_frames;
        mobile.infos[to] = device_.must_alloc(tier(), size_, 64);
        device_.must_run(queue_, move_commands(device_, mobile.infos[to], mobile.infos[from], size_));
        mobile.leases.publish(to);
        mobile.leases.drain(from);
        mobile.now = to;
        litmus::fill_words(bytes(mobile, from), poison);
        if (software(device_, mobile.infos[from].tier)) device_.must_run(queue_, {flush_all(mobile.infos[from])});
        device_.must_free(mobile.infos[from].region);
        mobile.infos[from] = {};
    }

    std::array<Mobile, 3> mobiles;

private:
    uint32_t tier() { return tiers_[random_.below(tiers_.size())]; }

    const Instance &device_;
    const std::vector<uint32_t> tiers_;
    const uint64_t size_;
    Queue queue_;
    Random random_;
};

// The control of stale mappings: a reader that takes no lease meets poison.
Sightings read_without_lease(const Context &context) {
    Sightings out{"M4' (read without a lease)"};
    std::array<std::vector<std::byte>, 2> frames{std::vector<std::byte>(litmus::granule_size),
                                                 std::vector<std::byte>(litmus::granule_size)};
    const auto begin = measure::Clock::now();
    while (!out.enough() && elapsed(begin) < patience_s(context)) {
        std::atomic<uint32_t> current{0};
        litmus::write_granule(frames[0], {1, 1});
        run_beside(
            [&](Over &over) {
                const auto start = measure::Clock::now();
                while (!over && elapsed(start) < 0.02) {
                    const uint32_t from = current.load();
                    litmus::copy_words(frames[1 - from], frames[from]);
                    current.store(1 - from);
                    litmus::fill_words(frames[from], poison);
                }
            },
            [&](Over &over) {
                while (!over && !out.enough())
                    out.count(litmus::read_granule(frames[current.load()]).kind != litmus::Reading::whole);
            });
    }
    return out;
}

} // namespace

HBF_CASE("coherence.migration.stale_mapping", {.rules = {"HBF-TIER-6", "HBF-QUEUE-3"},
                                               .kills = {"late_scrub"},
                                               .needs = need::cpu_tier | need::coherence,
                                               .budget_s = 0.25,
                                               .limit_s = 40}) {
    const Instance &device = context.device();
    const std::vector<uint32_t> tiers = mapped_tiers(device);
    if (tiers.empty()) context.not_supported("no tier is in a coherence domain with the CPU");
    need_agents(context, 2, "a migration beside a reader of the granule");
    Recycler recycler(context, device, tiers, 16384);
    uint64_t moves = 0, reads = 0;
    run_beside(
        [&](Over &over) {
            while (!over && (context.time_left() || moves < 30))
                recycler.move(recycler.mobiles[moves++ % recycler.mobiles.size()]);
        },
        [&](Over &over) {
            Random random(context.seed() + 1);
            for (; !over; ++reads) {
                Mobile &mobile = recycler.mobiles[random.below(recycler.mobiles.size())];
                const uint32_t frame = mobile.leases.take();
                const hbf_region_info info = mobile.infos[frame];
                const litmus::Reading reading = litmus::read_granule(recycler.bytes(mobile, frame));
                mobile.leases.give(frame); // before a verdict: the mover waits for it
                expect_whole(context, {&device, &info, 0}, reading, mobile.owner,
                             "a granule read under a lease while old frames are freed and given out again");
            }
        });
    context.note(fmt::format("{} migrations into new regions, {} reads", moves, reads));
    require_seen(context, read_without_lease(context));
}

} // namespace hbf::conformance
