// SPDX-License-Identifier: Apache-2.0
// Migration under use, between CPU threads that hold leases and the engine that copies: nobody sees a granule that is of two
// pieces, misses a message, or loses an addition. Controls are the same without the protocol, by a CPU's own copy.
#include "conformance/measure/clock.hpp"
#include "conformance/suite/coherence/frames.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"
#include "conformance/suite/coherence/raw_moves.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

constexpr uint64_t owner = 7;

std::vector<uint32_t> tiers_to_move_between(Context &context, const Instance &device) {
    const std::vector<uint32_t> tiers = mapped_tiers(device);
    if (tiers.empty()) context.not_supported("no tier is in a coherence domain with the CPU");
    need_agents(context, 2, "a migration beside a user of the granule");
    return tiers;
}

// Moves the granule about until time is up; users are kept out meanwhile, and have a turn in between. `arrived` runs after
// each move, before users are let in again.
template <class Arrived>
uint64_t move_about(const Frames &frames, Leases &leases, uint64_t seed, double seconds, Over &over, Arrived arrived) {
    Random random(seed);
    uint64_t moves = 0;
    uint32_t now = 0;
    const auto begin = measure::Clock::now();
    constexpr uint64_t least = 20; // also where users and mover seldom have a CPU
    while (running(over) && (elapsed(begin) < seconds || (moves < least && elapsed(begin) < 20 * seconds))) {
        const auto to = static_cast<uint32_t>((now + 1 + random.below(frames.count() - 1)) % frames.count());
        leases.close();
        leases.drain(now);
        frames.move(to, now);
        now = to;
        ++moves;
        arrived(now);
        leases.publish(now);
        leases.let_use();
    }
    leases.close();
    leases.drain(now);
    return moves;
}

} // namespace

// M3: every read under a lease is of one version, and of none older than was published.
HBF_CASE("coherence.migration.granule_not_torn", {.rules = {"HBF-QUEUE-3", "HBF-DMA-2"},
                                                  .kills = {"half_a_granule", "stale_granule"},
                                                  .needs = need::cpu_tier | need::coherence,
                                                  .budget_s = 0.25,
                                                  .limit_s = 40}) {
    const Instance &device = context.device();
    const Frames frames(device, tiers_to_move_between(context, device), 3);
    Leases leases;
    std::atomic<uint64_t> published{1};
    uint64_t versions = 1, reads = 0;
    litmus::write_granule(frames.bytes(0), {owner, versions});
    leases.publish(0);
    run_beside(
        [&](Over &over) {
            // The last frame is where a version is made; the others are read.
            const uint32_t workshop = frames.count() - 1;
            Random random(context.seed());
            uint32_t now = 0;
            while (running(over) && (context.time_left() || versions < 20)) {
                const auto to = static_cast<uint32_t>((now + 1 + random.below(workshop - 1)) % workshop);
                litmus::write_granule(frames.bytes(workshop), {owner, ++versions});
                frames.move(to, workshop);
                leases.publish(to);
                published.store(versions, std::memory_order_release);
                leases.drain(now);
                litmus::fill_words(frames.bytes(now), poison);
                frames.publish(now);
                now = to;
            }
        },
        [&](Over &over) {
            for (; running(over); ++reads) {
                const uint64_t least = published.load(std::memory_order_acquire);
                const uint32_t frame = leases.take();
                const litmus::Reading reading = litmus::read_granule(frames.bytes(frame));
                leases.give(frame);
                const uint64_t version =
                    expect_whole(context, frames.place(frame), reading, owner,
                                 "a granule read under a lease while its next version arrived elsewhere");
                context.count_check();
                if (version < least)
                    fail_at(fault::stale, frames.place(frame),
                            fmt::format("a reader saw version {} when {} had been published", version, least));
            }
        });
    context.note(fmt::format("{} versions moved, {} reads", versions, reads));
    require_seen(context, until_seen(context, "M3' (copied over while it is read)", read_beside_raw_copy));
}

// M2: additions to words of a granule that moves all the time add up.
HBF_CASE("coherence.migration.no_lost_update", {.rules = {"HBF-QUEUE-3", "HBF-COH-2"},
                                                .kills = {"stale_granule"},
                                                .needs = need::cpu_tier | need::coherence,
                                                .budget_s = 0.25,
                                                .limit_s = 40}) {
    const Instance &device = context.device();
    const Frames frames(device, tiers_to_move_between(context, device), 2);
    constexpr uint64_t words = 1024;
    Leases leases;
    std::vector<uint64_t> added(words);
    uint64_t moves = 0;
    uint32_t last = 0;
    litmus::fill_words(frames.bytes(0), 0);
    leases.publish(0);
    run_beside(
        [&](Over &over) {
            moves = move_about(frames, leases, context.seed(), context.budget_s(), over, [&](uint32_t now) { last = now; });
        },
        [&](Over &over) {
            Random random(context.seed() + 1);
            Patience patience;
            while (running(over)) {
                const uint32_t frame = leases.take();
                if (frame == Leases::none) {
                    patience.wait();
                    continue;
                }
                for (unsigned i = 0; i < 16; ++i) {
                    const uint64_t number = random.below(words);
                    word_at(frames.bytes(frame), 8 * number).fetch_add(1, std::memory_order_relaxed);
                    ++added[number];
                }
                leases.give(frame);
            }
        });
    uint64_t sum = 0;
    for (uint64_t number = 0; number < words; ++number) {
        const uint64_t found = word_at(frames.bytes(last), 8 * number).load(std::memory_order_relaxed);
        context.count_check();
        if (found != added[number])
            fail_at(
                fault::lost_update, frames.place(last, 64 * number),
                fmt::format("a word that was added to {} times holds {} after {} migrations", added[number], found, moves));
        sum += found;
    }
    context.note(fmt::format("{} migrations, {} additions", moves, sum));
    require_seen(context, until_seen(context, "M2' (moved while it is added to)", add_beside_raw_move));
}

// M1: payload in the granule, flag outside. Who sees the flag finds the payload, wherever the granule is by then.
HBF_CASE("coherence.migration.message_passing", {.rules = {"HBF-QUEUE-3", "HBF-COH-2"},
                                                 .kills = {"stale_granule"},
                                                 .needs = need::cpu_tier | need::coherence,
                                                 .budget_s = 0.25,
                                                 .limit_s = 40}) {
    const Instance &device = context.device();
    const Frames frames(device, tiers_to_move_between(context, device), 2);
    constexpr uint64_t words = 1024, latest = 64; // messages kept; looked at after a move
    Leases leases;
    std::atomic<uint64_t> flag{0};
    uint64_t moves = 0;
    litmus::fill_words(frames.bytes(0), 0);
    leases.publish(0);
    run_beside(
        [&](Over &over) {
            moves = move_about(frames, leases, context.seed(), context.budget_s(), over, [&](uint32_t now) {
                const uint64_t announced = flag.load(std::memory_order_acquire);
                context.count_check();
                for (uint64_t number = announced; number > 0 && number + latest > announced; --number) {
                    const uint64_t slot = number % words;
                    const uint64_t found = word_at(frames.bytes(now), 8 * slot).load(std::memory_order_relaxed);
                    if (found < number)
                        fail_at(fault::stale, frames.place(now, 64 * slot),
                                fmt::format("message {} was announced before the granule moved, its word holds {}", number,
                                            found));
                }
            });
        },
        [&](Over &over) {
            Patience patience;
            for (uint64_t number = 1; running(over);) {
                const uint32_t frame = leases.take();
                if (frame == Leases::none) {
                    patience.wait();
                    continue;
                }
                word_at(frames.bytes(frame), 8 * (number % words)).store(number, std::memory_order_relaxed);
                leases.give(frame);
                flag.store(number++, std::memory_order_release);
            }
        });
    context.note(fmt::format("{} migrations, {} messages", moves, flag.load()));
    require_seen(context, until_seen(context, "M1' (moved while it is written)", publish_beside_raw_move));
}

} // namespace hbf::conformance
