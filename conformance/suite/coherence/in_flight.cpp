// SPDX-License-Identifier: Apache-2.0
// Migrations seen from beside: read the moment they complete, freed while they run, taken out again. Old or new, never a
// mix.
#include <thread>

#include "conformance/litmus/access.hpp"
#include "conformance/measure/clock.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/coherence/frames.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;
using Over = std::atomic<bool>;

constexpr uint64_t owner = 3;

// The last lines first: what is still on its way gets there last.
bool tail_is_old(std::span<const std::byte> granule, uint64_t version) {
    for (uint64_t at = granule.size(); at > 0 && at + 16 * litmus::stamp_size > granule.size(); at -= litmus::stamp_size) {
        auto *word = const_cast<uint64_t *>(reinterpret_cast<const uint64_t *>(granule.data() + at - litmus::stamp_size));
        if (std::atomic_ref<uint64_t>(*word).load(std::memory_order_relaxed) != version) return true;
    }
    return false;
}

// M6': an engine that signals before its stores are there. Without the fence after streaming stores (a word a line: a line
// that is full leaves by itself), which not every machine shows; or plainly too early, which every one does.
struct EarlySignals {
    Sightings unfenced{"M6' (streaming stores, then the signal without a fence)"},
        turned{"M6'' (the signal, then the stores)"};
};

void signal_early(Sightings &out, bool stores_first) {
    std::vector<std::byte> granule(4096);
    std::atomic<uint64_t> signal{0}, looked{0};
    litmus::fill_words(granule, 0);
    const auto store = [&](uint64_t version) {
        for (uint64_t line = 0; line < granule.size(); line += litmus::stamp_size)
            litmus::store_word<litmus::Order::streaming>(*reinterpret_cast<uint64_t *>(granule.data() + line), version);
    };
    run_beside(
        [&](Over &over) {
            const auto start = measure::Clock::now();
            for (uint64_t version = 1; !over && measure::seconds_between(start, measure::Clock::now()) < 0.02; ++version) {
                if (stores_first) store(version);
                signal.store(version, std::memory_order_release);
                if (!stores_first) store(version);
                while (looked.load(std::memory_order_acquire) < version && !over) litmus::relax();
            }
        },
        [&](Over &over) {
            for (uint64_t version = 1; !over && !out.enough(); ++version) {
                while (signal.load(std::memory_order_acquire) < version && !over) litmus::relax();
                if (!over) out.count(tail_is_old(granule, version));
                looked.store(version, std::memory_order_release);
            }
        });
}

EarlySignals signals_before_stores(const Context &context) {
    EarlySignals out;
    const auto begin = measure::Clock::now();
    const auto spent = [&] { return measure::seconds_between(begin, measure::Clock::now()); };
    while (!out.unfenced.enough() && spent() < (out.turned.enough() ? 0.5 : patience_s(context))) {
        signal_early(out.unfenced, true);
        if (!out.turned.enough()) signal_early(out.turned, false);
    }
    return out;
}

// Says whether the bytes came after all.
[[noreturn]] void fail_late(std::span<const std::byte> granule, Place place, uint64_t round) {
    place.offset += litmus::granule_size - litmus::stamp_size;
    const auto begin = measure::Clock::now();
    const auto waited = [&] { return measure::seconds_between(begin, measure::Clock::now()); };
    while (tail_is_old(granule, round) && waited() < 0.5) std::this_thread::yield();
    const bool came = !tail_is_old(granule, round);
    fail_at(came ? fault::early_completion : fault::short_transfer, place,
            fmt::format("value {} had completed, and another CPU read the end of its granule as it was before; it {}", round,
                        came ? fmt::format("came {:.3g} ms later", 1e3 * waited()) : "did not come within 0.5 s either"));
}

// A granule of each version in turn to a frame, several a value; another CPU looks as soon as poll says so.
void read_at_completion(Context &context, const Instance &device, const std::vector<uint32_t> &tiers) {
    constexpr uint32_t ring = 4;
    const Frames sources(device, {observer_tier(device, tiers.front())}, ring);
    for (const uint32_t tier : tiers) {
        const Frames targets(device, {tier}, ring);
        Queue queue(device, ring, batch_room(device, 5));
        std::atomic<uint64_t> submitted{0}, looked{0};
        const uint64_t rounds = context.scaled(100, 5000, 100000);
        run_beside(
            [&](Over &over) {
                for (uint64_t round = 1; round <= rounds && !over; ++round) {
                    while (round - looked.load(std::memory_order_acquire) >= ring && !over) std::this_thread::yield();
                    const auto frame = static_cast<uint32_t>(round % ring);
                    litmus::write_granule(sources.bytes(frame), {owner, round});
                    submitted.store(round, std::memory_order_release); // values count 1, 2, 3
                    device.must_submit(
                        queue, move_commands(device, targets.info(frame), sources.info(frame), litmus::granule_size));
                }
                while (looked.load(std::memory_order_acquire) < rounds && !over) std::this_thread::yield();
            },
            [&](Over &over) {
                for (uint64_t round = 1; round <= rounds && !over; ++round) {
                    while (submitted.load(std::memory_order_acquire) < round && !over) std::this_thread::yield();
                    const auto begin = measure::Clock::now();
                    while (!over && device.poll(queue).completed < round) {
                        if (measure::seconds_between(begin, measure::Clock::now()) > 10)
                            fail_as(fault::never_completes,
                                    fmt::format("value {} did not complete in 10 seconds of polling", round));
                        std::this_thread::yield();
                    }
                    if (over) return;
                    const auto frame = static_cast<uint32_t>(round % ring);
                    context.count_check();
                    if (tail_is_old(targets.bytes(frame), round))
                        fail_late(targets.bytes(frame), targets.place(frame), round);
                    const uint64_t version =
                        expect_whole(context, targets.place(frame), litmus::read_granule(targets.bytes(frame)), owner,
                                     "a granule read at the completion of its migration");
                    context.check(version == round, "value {} completed with version {} of the granule", round, version);
                    looked.store(round, std::memory_order_release);
                }
            });
        context.note(fmt::format("{}: {} granules read at their completion", device.tier(tier).name, rounds));
    }
}

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
        const uint64_t found = expect_whole(context_, {&device_, &to, 0}, litmus::read_granule(bytes_), owner,
                                            "a granule migrated twice while someone tried to free its frame");
        context_.check(found == version, "version {} arrived where {} was sent", found, version);
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

// A queue of migrations behind a large one, some taken out again.
void cancel_round(Context &context, const Instance &device, uint32_t tier, uint64_t round, uint64_t &taken, uint64_t &late) {
    constexpr uint64_t large = 4u << 20, granules = 8;
    Regions regions(device);
    ByteAccess access(device);
    std::vector<std::byte> bytes(granules * litmus::granule_size);
    const hbf_region_info big = regions.make(tier, large), other = regions.make(tier, large),
                          from = regions.make(tier, bytes.size()), to = regions.make(tier, bytes.size());
    const auto fill = [&](const hbf_region_info &region, uint64_t version) {
        for (uint64_t i = 0; i < granules; ++i)
            litmus::write_granule(std::span(bytes).subspan(i * litmus::granule_size, litmus::granule_size),
                                  {owner + i, version});
        access.write(region, 0, bytes);
    };
    fill(to, 2 * round + 1);
    fill(from, 2 * round + 2);
    Queue queue(device);
    Random random(context.seed() + round);
    device.must_submit(queue, {copy_command(other.region, 0, big.region, 0, large)});
    std::array<uint64_t, granules> values{};
    for (uint64_t i = 0; i < granules; ++i)
        values[i] = device.must_submit(queue, {copy_command(to.region, i * litmus::granule_size, from.region,
                                                            i * litmus::granule_size, litmus::granule_size)});
    std::array<bool, granules> out{};
    for (uint64_t i = granules; i-- > 0;) { // from behind: there is most time for those
        if (random.below(3) == 0) continue;
        const Call call = device.cancel(queue, values[i]);
        if (!call.ok()) context.check_status(call, HBF_BUSY, "cancel of a migration");
        out[i] = call.ok();
        (out[i] ? taken : late) += 1;
    }
    device.must_complete(queue, values[granules - 1]);
    access.read(to, 0, bytes);
    for (uint64_t i = 0; i < granules; ++i) {
        const Place place{&device, &to, i * litmus::granule_size};
        const auto granule = std::span(bytes).subspan(place.offset, litmus::granule_size);
        const uint64_t found = expect_whole(context, place, litmus::read_granule(granule), owner + i,
                                            out[i] ? "the target of a cancelled migration"
                                                   : "the target of a migration that was not cancelled");
        context.count_check();
        if (found != 2 * round + (out[i] ? 1 : 2))
            fail_at(out[i] ? fault::contract : fault::not_written, place,
                    fmt::format("{}, and its target holds the {} granule",
                                out[i] ? "cancel succeeded" : "the migration completed", out[i] ? "new" : "old"));
    }
}

} // namespace

HBF_CASE("coherence.migration.completion_before_data", {.rules = {"HBF-QUEUE-3"},
                                                        .kills = {"m05_early_complete"},
                                                        .needs = need::cpu_tier | need::coherence,
                                                        .limit_s = 40}) {
    const Instance &device = context.device();
    const std::vector<uint32_t> tiers = mapped_tiers(device);
    if (tiers.empty()) context.not_supported("no tier is in a coherence domain with the CPU");
    need_agents(context, 2, "a reader beside the one who submits");
    read_at_completion(context, device, tiers);
    const EarlySignals controls = signals_before_stores(context);
    if (controls.unfenced.enough()) context.note(controls.turned.text());
    require_seen(context, controls.unfenced.enough() ? controls.unfenced : controls.turned);
}

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

HBF_CASE("coherence.migration.cancel_old_or_new",
         {.rules = {"HBF-QUEUE-8"},
          .kills = {"m28_cancel_still_writes", "cancel_drops_busy", "last_line_lost"},
          .needs = need::cpu_tier | need::cancel}) {
    const Instance &device = context.device();
    for (const uint32_t tier : device.dma_tiers()) {
        uint64_t taken = 0, late = 0;
        const uint64_t rounds = context.scaled(6, 200, 5000);
        for (uint64_t round = 1; round <= rounds; ++round) cancel_round(context, device, tier, round, taken, late);
        context.note(fmt::format("{}: {} migrations taken out, {} too late", device.tier(tier).name, taken, late));
    }
}

} // namespace hbf::conformance
