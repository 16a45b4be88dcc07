// SPDX-License-Identifier: Apache-2.0
// A migration whose frames somebody tries to free while it runs.
#include <thread>

#include "conformance/suite/coherence/frames.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

constexpr uint64_t owner = 3;

// Two migrations in a row, on two queues, while another thread frees the frame in the middle or at the start.
class FreeRace {
public:
    FreeRace(Context &context, const Instance &device, uint32_t tier, uint64_t size)
        : context_(context), device_(device), tier_(tier), size_(size), access_(device), bytes_(size),
          first_(device, 0, batch_room(device, 5)), second_(device, 0, batch_room(device, 5)), random_(context.seed()) {}

    void round(uint64_t version) {
        const hbf_region_info from = device_.must_alloc(tier_, size_), middle = device_.must_alloc(tier_, size_),
                              to = device_.must_alloc(tier_, size_);
        litmus::write_granule(bytes_, {owner, version});
        access_.write(from, 0, bytes_);
        const bool free_middle = random_.below(2);
        const hbf_region_info &victim = free_middle ? middle : from;
        std::atomic<bool> go{false};
        uint64_t moved = 0;
        Call freed;
        hbf_progress at_free{};
        run_beside(
            [&](Over &) {
                const uint64_t value = device_.must_submit(first_, {copy_command(middle.region, 0, from.region, 0, size_)});
                moved = device_.must_submit(
                    second_, {wait_command(first_, value), copy_command(to.region, 0, middle.region, 0, size_)});
                first_value_ = value;
                go.store(true, std::memory_order_release);
            },
            [&](Over &over) {
                while (!go.load(std::memory_order_acquire) && !over) std::this_thread::yield();
                if (!go) return;
                freed = device_.free(victim.region);
                at_free = device_.poll(free_middle ? second_ : first_);
            });
        const uint64_t last = free_middle ? moved : first_value_;
        if (freed.ok()) {
            context_.count_check();
            if (at_free.completed < last)
                fail_at(fault::contract, {&device_, &victim, 0},
                        fmt::format("a region was freed while value {} that names it was in flight ({} completed)", last,
                                    at_free.completed));
            ++freed_;
        } else {
            context_.check_status(freed, HBF_BUSY, "free of a region that a migration in flight names");
            ++busy_;
        }
        device_.must_complete(second_, moved);
        access_.read(to, 0, bytes_);
        expect_whole(context_, {&device_, &to, 0}, litmus::read_granule(bytes_), owner,
                     "a granule migrated twice while someone tried to free its frame", version);
        for (const hbf_region_info *info : {&from, &middle, &to})
            if (info != &victim || !freed.ok()) device_.must_free(info->region);
    }
    std::string text() const {
        return fmt::format("{}: {} frees refused as busy, {} after completion", device_.tier(tier_).name, busy_, freed_);
    }

private:
    Context &context_;
    const Instance &device_;
    const uint32_t tier_;
    const uint64_t size_;
    ByteAccess access_;
    std::vector<std::byte> bytes_;
    Queue first_, second_;
    Random random_;
    uint64_t first_value_ = 0, busy_ = 0, freed_ = 0;
};

} // namespace

HBF_CASE("coherence.migration.free_while_moving",
         {.rules = {"HBF-TIER-3"},
          .kills = {"m29_free_while_in_flight_ok", "free_busy_as_internal", "last_line_lost"},
          .needs = need::cpu_tier}) {
    const Instance &device = context.device();
    for (const uint32_t tier : device.dma_tiers()) {
        FreeRace race(context, device, tier, 2 * litmus::granule_size);
        const uint64_t rounds = context.scaled(device.cpu_access(tier) ? 24 : 10, 1000, 20000);
        for (uint64_t round = 1; round <= rounds; ++round) race.round(round);
        context.note(race.text());
    }
}

} // namespace hbf::conformance
