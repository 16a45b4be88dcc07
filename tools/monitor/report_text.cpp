// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "core/output/table.hpp"
#include "tools/monitor/report.hpp"

namespace hbf::tools::monitor {
namespace {

using observe::Counter;
constexpr double long_held = 1; // s: no lock of the engine is held while bytes move
constexpr size_t shown_moves = 6;

std::string percent(uint64_t part, uint64_t whole) {
    return whole == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

class Text {
public:
    Text(const Snapshot &now, const Snapshot *before) : now_(now), before_(before) {
        if (before) seconds_ = static_cast<double>(now.now_ns - before->now_ns) * 1e-9;
    }

    std::string all() {
        head();
        tiers();
        counts();
        scheduler();
        threads();
        moves();
        return std::move(out_);
    }

private:
    template <class... Values>
    void line(fmt::format_string<Values...> format, Values &&...values) {
        out_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
    }

    std::string bytes(Counter counter) const {
        const uint64_t total = now_.count(counter);
        std::string text = format_size(total);
        if (before_ && seconds_ > 0)
            text += fmt::format(" ({}/s)", format_size(static_cast<uint64_t>(
                                               static_cast<double>(total - before_->count(counter)) / seconds_)));
        return text;
    }

    void head() {
        const bool alarming = now_.stopped() || now_.gone();
        line("{} of process {} ({}), {}, placement {}, open for {}{}",
             coloured(now_.name.empty() ? "cache" : now_.name, Colour::bold), now_.pid, now_.process.program,
             coloured(std::string(state_name(now_.process.state)), alarming ? Colour::yellow : Colour::green), now_.policy,
             format_duration(now_.open_seconds), now_.emulated() ? "; EMULATED memory" : "");
        if (now_.half_written > 0)
            line("{} blocks were being written when their writer stopped: they are left out", now_.half_written);
    }

    void tiers() {
        std::vector<std::vector<Cell>> rows;
        for (const TierNow &tier : now_.tiers) {
            const auto &b = tier.bands;
            const double full = tier.capacity ? static_cast<double>(tier.used) / static_cast<double>(tier.capacity) : 0;
            rows.push_back({tier.name, tier.medium + (tier.emulated ? " (emulated)" : ""), format_size(tier.used),
                            format_size(tier.capacity),
                            Cell(percent(tier.used, tier.capacity), full > 0.85 ? Colour::yellow : Colour::none),
                            std::to_string(tier.blocks), std::to_string(tier.pinned),
                            Cell(fmt::format("{:.1f} %", 100 * tier.fragmentation()),
                                 tier.fragmentation() > 0.15 ? Colour::yellow : Colour::none),
                            now_.scored() ? fmt::format("{} / {} / {} / {}", b[0], b[1], b[2], b[3]) : "-"});
        }
        out_ += format_table(
            {"tier", "memory", ">used", ">of", ">full", ">blocks", ">pinned", ">fragmented", "hot / settled / warm / cold"},
            rows);
    }

    void counts() {
        const uint64_t asked = now_.count(Counter::lookup_tokens);
        line("hits       {} of {} prompt tokens in {} lookups", percent(now_.count(Counter::hit_tokens), asked), asked,
             now_.count(Counter::lookups));
        line("moved      up {}, down {}; {} blocks left without a write; {} failed, {} late, {} called off",
             bytes(Counter::moved_up_bytes), bytes(Counter::moved_down_bytes), now_.count(Counter::spared_blocks),
             now_.count(Counter::failed_moves), now_.count(Counter::late_moves), now_.count(Counter::cancelled_moves));
        line("attended   {} from hbm, {} from hbf, {} from cold; {} steps exact, {} selective, {} fell back to exact",
             bytes(Counter::read_hbm_bytes), bytes(Counter::read_hbf_bytes), bytes(Counter::read_cold_bytes),
             now_.count(Counter::attended_exactly), now_.count(Counter::attended_selectively),
             now_.count(Counter::fallbacks_to_exact));
        line("prefetch   {} used, {} wasted, {} late", bytes(Counter::prefetched_useful_bytes),
             bytes(Counter::prefetched_wasted_bytes), bytes(Counter::prefetched_late_bytes));
        line("shared     {} blocks, {} saved", now_.count(Counter::shared_blocks),
             format_size(now_.count(Counter::shared_bytes)));
        const uint64_t corrupt = now_.count(Counter::corrupt_granules);
        line("integrity  {}",
             corrupt == 0 ? std::string("no wrong checksum")
                          : coloured(fmt::format("{} granules with a wrong checksum, {} blocks read from a lower copy",
                                                 corrupt, now_.count(Counter::recovered_blocks)),
                                     Colour::red));
    }

    void scheduler() {
        const Scheduler &s = now_.scheduler;
        if (!now_.scored()) return line("scheduler  {}; {} sequences", now_.policy, s.sequences);
        line("scheduler  T_hbm {:.2f}, T_hbf {:.2f}, T_cold {:.2f}{}{}; heat halves in {}; {} sequences", s.t_hbm, s.t_hbf,
             s.t_cold, s.full ? " (device memory nearly full)" : "", s.crowded ? " (many sequences)" : "",
             s.half_life ? fmt::format("{:.0f} requests ({})", *s.half_life, s.adapted ? "adapted" : "fixed") : "-",
             s.sequences);
    }

    void threads() {
        for (const ThreadNow &thread : now_.threads)
            line("thread     {} ({}): {} rounds, the last {} ago", thread.name, thread.tid, thread.beats,
                 format_duration(thread.idle_seconds));
        for (const LockNow &lock : now_.locks) {
            if (lock.holder == 0 && lock.waiting == 0) continue;
            auto text = fmt::format("lock       {}: held by thread {} for {}, {} waiting", lock.name, lock.holder,
                                    format_duration(lock.held_seconds), lock.waiting);
            if (lock.holder != 0 && lock.held_seconds > long_held)
                text = coloured(text + ": that is long; 'gdb -p' or /proc/PID/task/TID/stack show where it is", Colour::red);
            out_ += text + "\n";
        }
    }

    void moves() {
        for (size_t i = 0; i < std::min(shown_moves, now_.events.size()); ++i) {
            const auto &event = now_.events[i];
            const uint64_t ago = now_.now_ns > event.when_ns ? now_.now_ns - event.when_ns : 0;
            line("{}block {} {} -> {} ({}): {}, {} in {}, {} ago", i == 0 ? "last moves " : "           ", event.block,
                 tier_name(event.from), tier_name(event.to), reason_name(event.reason), outcome_name(event.outcome),
                 format_size(uint64_t{event.granules} * 65536), format_duration(static_cast<double>(event.took_ns) * 1e-9),
                 format_duration(static_cast<double>(ago) * 1e-9));
        }
    }

    const Snapshot &now_;
    const Snapshot *before_;
    double seconds_ = 0;
    std::string out_;
};

} // namespace

std::string report_text(const Snapshot &now, const Snapshot *before) {
    return Text(now, before).all();
}

} // namespace hbf::tools::monitor
