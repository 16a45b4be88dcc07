// SPDX-License-Identifier: Apache-2.0
// A migration seen from beside: read the moment that it completes.
#include <algorithm>
#include <thread>

#include "conformance/litmus/access.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/coherence/frames.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

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
            for (uint64_t version = 1; !over && elapsed(start) < 0.02; ++version) {
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
    const auto spent = [&] { return elapsed(begin); };
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
    const auto waited = [&] { return elapsed(begin); };
    while (tail_is_old(granule, round) && waited() < 0.5) std::this_thread::yield();
    const bool came = !tail_is_old(granule, round);
    fail_at(came ? fault::early_completion : fault::short_transfer, place,
            fmt::format("value {} had completed, and another CPU read the end of its granule as it was before; it {}", round,
                        came ? fmt::format("came {:.3g} ms later", 1e3 * waited()) : "did not come within 0.5 s either"));
}

[[noreturn]] void fail_granule(Context &context, const Frames &frames, uint32_t frame, const litmus::Reading &reading,
                               bool late, uint64_t round) {
    if (!late) expect_whole(context, frames.place(frame), reading, owner, "a granule read at completion", round);
    fail_late(frames.bytes(frame), frames.place(frame), round);
}

// A granule of each version in turn to a frame, several a value; another CPU looks as soon as poll says so.
void read_at_completion(Context &context, const Instance &device, const std::vector<uint32_t> &tiers) {
    constexpr uint32_t ring = 4;
    const Frames sources(device, {observer_tier(device, tiers.front())}, ring);
    for (const uint32_t tier : tiers) {
        const Frames targets(device, {tier}, ring);
        // Room for more than the ring: that a value which counts as completed still has its place is not what is asked here.
        Queue queue(device, std::min(4 * ring, device.queue_info().max_depth), batch_room(device, 5));
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
                    look_until([&] { return over || device.poll(queue).completed >= round; }, round);
                    if (over) return;
                    const auto frame = static_cast<uint32_t>(round % ring);
                    context.count_check();
                    const bool late = tail_is_old(targets.bytes(frame), round);
                    const litmus::Reading reading = litmus::read_granule(targets.bytes(frame));
                    const bool good = reading.kind == litmus::Reading::whole && reading.first.owner == owner &&
                                      reading.first.version == round;
                    if (late || !good) fail_granule(context, targets, frame, reading, late, round);
                    looked.store(round, std::memory_order_release);
                }
            });
        context.note(fmt::format("{}: {} granules read at their completion", device.tier(tier).name, rounds));
    }
}

} // namespace

HBF_CASE("coherence.migration.completion_before_data", {.rules = {"HBF-QUEUE-3"},
                                                        .kills = {"m05_early_complete", "eighth_early_complete"},
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

} // namespace hbf::conformance
