// SPDX-License-Identifier: Apache-2.0
#include "tools/monitor/snapshot.hpp"

#include <algorithm>
#include <ctime>
#include <numeric>

namespace hbf::tools::monitor {
namespace {

struct CounterText {
    std::string_view name, help;
};
constexpr CounterText counter_texts[] = {
#define HBF_KV_COUNTER(name, help) {#name, help},
#include "core/engine/observe/counters.inc"
#undef HBF_KV_COUNTER
};

uint64_t monotonic_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

double since(uint64_t then_ns, uint64_t now_ns) {
    return now_ns > then_ns ? static_cast<double>(now_ns - then_ns) * 1e-9 : 0;
}

Scheduler scheduler_of(const observe::SchedulerRow &row) {
    Scheduler out;
    out.t_hbm = static_cast<double>(row.t_hbm.load()) * 1e-6;
    out.t_hbf = static_cast<double>(row.t_hbf.load()) * 1e-6;
    out.t_cold = static_cast<double>(row.t_cold.load()) * 1e-6;
    out.full = row.full != 0;
    out.crowded = row.crowded != 0;
    if (const uint64_t milli = row.half_life_milli; milli != 0) out.half_life = static_cast<double>(milli) * 1e-3;
    out.adapted = row.half_life_adapted != 0;
    out.sequences = row.sequences;
    out.queries = row.queries;
    return out;
}

} // namespace

bool Snapshot::emulated() const {
    return std::any_of(tiers.begin(), tiers.end(), [](const TierNow &tier) { return tier.emulated; });
}

Snapshot take(const observe::View &view) {
    const auto &header = view.header();
    Snapshot out;
    out.pid = view.pid();
    out.process = observe::look_at(view.pid());
    out.name = view.name();
    out.policy = view.policy();
    out.now_ns = monotonic_ns();
    out.open_seconds = since(header.opened_ns, out.now_ns);
    for (size_t i = 0; i < out.counters.size(); ++i) out.counters[i] = header.counters[i];
    out.scheduler = scheduler_of(header.scheduler);

    std::array<std::array<uint64_t, 4>, observe::tier_room> bands{};
    for (uint32_t id = 0; id < view.block_end(); ++id) {
        const auto block = view.block(id);
        if (!block) {
            ++out.half_written;
            continue;
        }
        for (unsigned tier = 0; tier < observe::tier_room; ++tier) {
            if (block->tiers >> tier & 1) ++bands[tier][block->band()];
        }
    }
    for (unsigned i = 0; i < observe::tier_room; ++i) {
        const auto &row = header.tiers[i];
        if (row.present == 0) continue;
        TierNow tier;
        tier.name = tier_name(i);
        tier.medium = observe::text_of(row.medium, sizeof row.medium);
        tier.emulated = row.emulated != 0;
        tier.capacity = row.capacity;
        tier.used = row.used;
        tier.unusable = row.unusable;
        tier.blocks = std::accumulate(bands[i].begin(), bands[i].end(), uint64_t{0});
        tier.pinned = row.pinned;
        tier.bands = bands[i];
        out.tiers.push_back(tier);
    }
    for (const auto &row : header.threads) {
        if (row.tid == 0) continue;
        out.threads.push_back(
            {observe::text_of(row.name, sizeof row.name), row.tid, row.beats, since(row.beat_ns, out.now_ns)});
    }
    for (const auto &row : header.locks) {
        if (row.name[0] == 0) continue;
        const uint64_t holder = row.holder;
        out.locks.push_back({observe::text_of(row.name, sizeof row.name), holder, row.waiting,
                             holder != 0 ? since(row.since_ns, out.now_ns) : 0});
    }
    out.events = view.events();
    out.moves = header.event_count;
    return out;
}

std::string_view state_name(char state) {
    switch (state) {
    case 'R':
    case 'S':
    case 'I':
        return "running";
    case 'D':
        return "waiting for a device (uninterruptible)";
    case 'T':
        return "stopped";
    case 't':
        return "stopped by a debugger";
    case 'Z':
    case '-':
        return "gone";
    default:
        return "in an unknown state";
    }
}

template <size_t Count>
static std::string_view named(const std::string_view (&names)[Count], size_t at) {
    return at < Count ? names[at] : std::string_view("?");
}

std::string_view reason_name(observe::Reason reason) {
    constexpr std::string_view names[] = {"none",  "filled",   "hot",       "cooled",    "room",  "budget",
                                          "asked", "prefetch", "recovered", "compacted", "pinned"};
    static_assert(std::size(names) == static_cast<size_t>(observe::Reason::count));
    return named(names, static_cast<size_t>(reason));
}

std::string_view outcome_name(observe::Outcome outcome) {
    constexpr std::string_view names[] = {"done", "spared", "failed", "late", "cancelled"};
    static_assert(std::size(names) == static_cast<size_t>(observe::Outcome::count));
    return named(names, static_cast<size_t>(outcome));
}

std::string_view band_name(unsigned band) {
    constexpr std::string_view names[] = {"hot", "settled", "warm", "cold"};
    return named(names, band);
}

std::string_view tier_name(unsigned tier) {
    constexpr std::string_view names[] = {"hbm", "hbf", "cold"};
    return named(names, tier);
}

std::string tiers_text(uint8_t tiers) {
    std::string out;
    for (unsigned i = 0; i < observe::tier_room; ++i) {
        if (tiers >> i & 1) out += (out.empty() ? "" : "+") + std::string(tier_name(i));
    }
    return out.empty() ? "-" : out;
}

std::string_view counter_name(size_t counter) {
    return counter_texts[counter].name;
}
std::string_view counter_help(size_t counter) {
    return counter_texts[counter].help;
}

} // namespace hbf::tools::monitor
