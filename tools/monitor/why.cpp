// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "tools/monitor/report.hpp"

namespace hbf::tools::monitor {
namespace {

using observe::Counter;

std::string_view meaning(observe::Reason reason) {
    switch (reason) {
    case observe::Reason::filled:
        return "it was filled there";
    case observe::Reason::hot:
        return "its score rose above T_hbm";
    case observe::Reason::cooled:
        return "its score fell below the band of the tier it was in";
    case observe::Reason::room:
        return "room was needed, and it was worth least";
    case observe::Reason::budget:
        return "the tier's budget shrank";
    case observe::Reason::asked:
        return "the program asked for it (migrate, move_to)";
    case observe::Reason::prefetch:
        return "it was expected to be read next";
    case observe::Reason::recovered:
        return "the upper copy was wrong, the lower one was taken";
    case observe::Reason::compacted:
        return "its tier was defragmented";
    case observe::Reason::pinned:
        return "it is pinned there";
    default:
        return "nothing moved it yet";
    }
}

double score_of(const observe::BlockValue &block) {
    return block.score / 65535.0;
}

double heat_of(const observe::BlockValue &block) {
    return block.heat / 256.0;
}

// How the score stands to the thresholds, as the scheduler's table has it.
std::string band_line(const observe::BlockValue &block, const Scheduler &s) {
    const double score = score_of(block);
    if (score >= s.t_hbm) return fmt::format("above T_hbm {:.2f}: it belongs in hbm", s.t_hbm);
    if (score >= s.t_hbf)
        return fmt::format("between T_hbf {:.2f} and T_hbm {:.2f}: it stays where it is", s.t_hbf, s.t_hbm);
    if (score >= s.t_cold)
        return fmt::format("between T_cold {:.2f} and T_hbf {:.2f}: it belongs in hbf", s.t_cold, s.t_hbf);
    return fmt::format("below T_cold {:.2f}: it belongs in cold memory", s.t_cold);
}

bool unused(const observe::BlockValue &block) {
    return block.tiers == 0 && block.uses == 0 && block.reason() == observe::Reason::none;
}

struct Miss {
    Counter counter;
    const char *what, *remedy;
};
constexpr Miss misses[] = {
    {Counter::miss_never_stored, "the next block was never stored",
     "prompts differ from each other before they share a whole block: put what is common first, or use smaller blocks "
     "(kv.chunk_size)"},
    {Counter::miss_evicted, "the next block had been dropped for room",
     "give a tier more room (budgets in h3.toml), or a cold tier"},
    {Counter::miss_other_model, "the same tokens are there of another model or layout",
     "that is another model's memory, and must not be used: check model digest, element and head layout"},
    {Counter::miss_other_tenant, "the same tokens are there of another tenant",
     "tenants share nothing by design; give what may be shared one tenant"},
    {Counter::miss_corrupt, "no copy of the next block was right",
     "memory or storage corrupts data: run 'hbf corruption' and 'hbf doctor'"},
    {Counter::miss_short, "the prompt does not fill one block", "smaller blocks (kv.chunk_size = 16)"},
};

} // namespace

std::string why_block(const observe::View &view, const Snapshot &now, uint32_t id) {
    const auto block = view.block(id);
    if (!block) {
        return id >= view.block_room()
                   ? std::string()
                   : fmt::format("block {}: its writer was stopped while writing what is known of it\n", id);
    }
    if (unused(*block)) return "";
    std::string out =
        fmt::format("block {}: layer {}, {} tokens, in {}\n", id, block->layer, block->tokens + 1, tiers_text(block->tiers));
    if (now.scored()) {
        out += fmt::format("  score {:.4f}: {}\n", score_of(*block), band_line(*block, now.scheduler));
        out += fmt::format(
            "  heat {:+.2f} octaves of one use just now; used {}{} times; relevance to the current query {:.2f}\n",
            heat_of(*block), block->uses, block->uses == UINT8_MAX ? " or more" : "", block->relevance / 255.0);
    } else {
        out += fmt::format("  placement {}: it has no score\n", now.policy);
    }
    out += fmt::format("  where it is: {}\n", meaning(block->reason()));
    const bool there = (block->tiers >> block->target() & 1) != 0;
    if (now.scored() && !there && block->tiers != 0)
        out += fmt::format("  waits to be moved to {}\n", tier_name(block->target()));
    if (block->flags() & observe::block_filling) out += "  is being filled: it moves only when it is full\n";
    if (block->flags() & observe::block_pinned) out += "  pinned: it leaves no tier until its time is over\n";
    if (block->flags() & observe::block_moving) out += "  is being moved now\n";
    if (block->flags() & observe::block_shared) out += "  shared by several sequences\n";
    for (const auto &event : now.events) {
        if (event.block != id) continue;
        const uint64_t ago = now.now_ns > event.when_ns ? now.now_ns - event.when_ns : 0;
        out +=
            fmt::format("  {} ago: {} -> {}, {} ({})\n", format_duration(static_cast<double>(ago) * 1e-9),
                        tier_name(event.from), tier_name(event.to), outcome_name(event.outcome), reason_name(event.reason));
    }
    return out;
}

std::string why_no_hits(const Snapshot &now) {
    const uint64_t lookups = now.count(Counter::lookups), asked = now.count(Counter::lookup_tokens);
    if (lookups == 0)
        return "no prompt was looked up: the program does not ask the cache for prefixes (KvCache::sequence with a "
               "prompt)\n";
    const uint64_t hit = now.count(Counter::hit_tokens);
    std::string out = fmt::format("{} of {} prompt tokens were there ({:.1f} %), in {} lookups\n", hit, asked,
                                  asked ? 100.0 * static_cast<double>(hit) / static_cast<double>(asked) : 0.0, lookups);
    std::vector<Miss> found;
    for (const Miss &miss : misses) {
        if (now.count(miss.counter) > 0) found.push_back(miss);
    }
    std::stable_sort(found.begin(), found.end(),
                     [&](const Miss &a, const Miss &b) { return now.count(a.counter) > now.count(b.counter); });
    if (found.empty()) return out + "no lookup ended early: each found all that it could\n";
    for (const Miss &miss : found)
        out += fmt::format("  {} times {}\n      {}\n", now.count(miss.counter), miss.what, miss.remedy);
    return out;
}

std::string dump_scheduler(const observe::View &view, const Snapshot &now) {
    const Scheduler &s = now.scheduler;
    std::string out = fmt::format("process {} ({}), {}: model {}, placement {}\n", now.pid, now.process.program,
                                  state_name(now.process.state), now.name, now.policy);
    out += fmt::format("T_hbm {:.4f} T_hbf {:.4f} T_cold {:.4f}{}{}; {} sequences, {} queries\n", s.t_hbm, s.t_hbf, s.t_cold,
                       s.full ? ", device memory nearly full" : "", s.crowded ? ", many sequences" : "", s.sequences,
                       s.queries);
    for (const LockNow &lock : now.locks)
        out += lock.holder == 0 ? fmt::format("lock {}: free\n", lock.name)
                                : fmt::format("lock {}: held by thread {} for {}, {} waiting\n", lock.name, lock.holder,
                                              format_duration(lock.held_seconds), lock.waiting);
    for (const ThreadNow &thread : now.threads)
        out += fmt::format("thread {} ({}): {} rounds, the last {} ago\n", thread.name, thread.tid, thread.beats,
                           format_duration(thread.idle_seconds));
    out += "block tiers score band target heat uses layer tokens flags reason\n";
    for (uint32_t id = 0; id < view.block_end(); ++id) {
        const auto block = view.block(id);
        if (!block) {
            out += fmt::format("{} (being written)\n", id);
            continue;
        }
        if (unused(*block)) continue;
        std::string flags;
        for (const auto &[bit, letter] : {std::pair{observe::block_pinned, 'p'},
                                          {observe::block_moving, 'm'},
                                          {observe::block_shared, 's'},
                                          {observe::block_filling, 'f'}})
            flags += (block->flags() & bit) != 0 ? letter : '-';
        const auto place = now.scored() ? fmt::format("{:.4f} {} {} {:+.2f} {}", score_of(*block), band_name(block->band()),
                                                      tier_name(block->target()), heat_of(*block), block->uses)
                                        : std::string("- - - - -");
        out += fmt::format("{} {} {} {} {} {} {}\n", id, tiers_text(block->tiers), place, block->layer, block->tokens + 1,
                           flags, reason_name(block->reason()));
    }
    return out;
}

} // namespace hbf::tools::monitor
