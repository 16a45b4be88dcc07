// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "conformance/integrity/bound.hpp"
#include "conformance/integrity/corruption.hpp"
#include "core/output/size.hpp"
#include "core/output/table.hpp"

namespace hbf::integrity {
namespace {

constexpr size_t shown_records = 8, shown_pages = 4;

std::string pairs_table(const CorruptionRun &run) {
    std::vector<std::vector<Cell>> rows;
    for (const auto &pair : run.tally.pairs) {
        const double gb = static_cast<double>(pair.bytes) * 1e-9;
        rows.push_back({fmt::format("{} -> {}{}", pair.from, pair.to, pair.emulated ? " (emulated)" : ""),
                        fmt::format("{:.2f} GB", gb),
                        pair.seconds > 0 ? fmt::format("{:.2f} GB/s", gb / pair.seconds) : std::string("-"),
                        "verified by " + pair.verified_by,
                        Cell(std::to_string(pair.wrong_words), pair.wrong_words ? Colour::red : Colour::green),
                        fmt::format("{} of {}, {:.2g} %", format_size(pair.reached), format_size(pair.capacity),
                                    100 * pair.coverage())});
    }
    return format_table({"transfer", ">compared", ">rate", "who compared", ">wrong words", ">coverage of the destination"},
                        rows);
}

std::string counts(const std::map<std::string, uint64_t> &classes) {
    std::string out;
    for (const auto &[name, count] : classes) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, name);
    return out;
}

std::string aggregates(const Tally &tally) {
    const auto &lanes = tally.lanes;
    std::string out = fmt::format("wrong: {} words, {} bits (0->1 {}, 1->0 {}) in {} places that hang together\n",
                                  lanes.words(), lanes.bits(), lanes.up(), lanes.down(), tally.incidents);
    std::string flips, lines;
    for (size_t i = 1; i < lanes.flips_per_word().size(); ++i)
        if (const auto count = lanes.flips_per_word()[i]) flips += fmt::format(" {}:{}", i, count);
    for (size_t i = 0; i < lanes.words_in_line().size(); ++i) lines += fmt::format(" {}", lanes.words_in_line()[i]);
    out += fmt::format("  bits flipped in a word (bits:words):{}\n", flips);
    for (const unsigned width : {8u, 64u, 256u, 512u}) {
        const auto lane = lanes.busiest(width);
        out += fmt::format("  busiest of {} lanes: {}, 0->1 {}, 1->0 {}, {:.0f} % of all flips\n", width, lane.lane, lane.up,
                           lane.down, 100.0 * static_cast<double>(lane.all()) / static_cast<double>(lanes.bits()));
    }
    out += fmt::format("  words by place in the 64-byte line:{}\n", lines);
    for (const uint64_t size : {uint64_t{4096}, uint64_t{65536}, uint64_t{2} << 20}) {
        const auto pages = lanes.pages(size);
        std::string some;
        for (size_t i = 0; i < std::min(pages.size(), shown_pages); ++i)
            some += fmt::format(" {:#x}:{}", pages[i].first * size, pages[i].second);
        out += fmt::format("  pages of {}: {} touched; fullest (offset:words){}\n", format_size(size), pages.size(), some);
    }
    out += fmt::format("  looked at: {}\n", counts(tally.classes));
    out += fmt::format("  read again: {} the same wrong value, {} right, {} different\n", tally.rereads[0], tally.rereads[1],
                       tally.rereads[2]);
    return out;
}

std::string errors(const Tally &tally) {
    std::string out;
    if (tally.crc_wrong)
        out += fmt::format("{} of {} checksums of the engine are not those of the bytes in the source\n", tally.crc_wrong,
                           tally.crc_checked);
    if (tally.wrong_words() == 0) return out;
    out += aggregates(tally);
    if (tally.kernel_wrong_words)
        out +=
            fmt::format("  counted by the device's kernel: {} wrong words; places and causes are from the host's own look\n",
                        tally.kernel_wrong_words);
    out += fmt::format("first errors of {} kept:\n", tally.records.size());
    for (size_t i = 0; i < std::min(tally.records.size(), shown_records); ++i)
        out += fmt::format("  {} s: {}\n", format_significant(tally.records[i].at_s, 3), to_string(tally.records[i]));
    return out;
}

} // namespace

Outcome outcome_of(const CorruptionRun &run) {
    const auto &tally = run.tally;
    // A wrong byte stays wrong, whatever else went wrong or ended the run.
    if (tally.wrong_words() != 0 || tally.crc_wrong != 0) return run.interrupted ? Outcome::interrupted : Outcome::fail;
    if (run.interrupted) return Outcome::interrupted;
    if (!run.trouble.empty() || !run.self_test_passed) return Outcome::undecided;
    if (run.nothing) return Outcome::nothing;
    const bool reached =
        std::all_of(tally.pairs.begin(), tally.pairs.end(), [](const auto &pair) { return pair.bytes != 0; });
    return reached && tally.bits_compared() >= run.bits_wanted ? Outcome::pass : Outcome::undecided;
}

std::string outcome_text(const CorruptionRun &run) {
    const auto &tally = run.tally;
    const std::string wrong = tally.wrong_words() != 0
                                  ? fmt::format("{} wrong words; {}", tally.wrong_words(), tally.verdict())
                              : tally.crc_wrong != 0 ? "checksums that are not those of the bytes read"
                                                     : "";
    switch (outcome_of(run)) {
    case Outcome::pass:
        return "pass: no byte was wrong";
    case Outcome::fail:
        return "fail: " + wrong;
    case Outcome::interrupted:
        return "interrupted: the figures are of the part that was done" + (wrong.empty() ? "" : "; fail: " + wrong);
    case Outcome::nothing:
        return "nothing to test: no pair of tiers has room for it";
    case Outcome::undecided:
        break;
    }
    if (!run.trouble.empty()) return "undecided: " + run.trouble;
    if (!run.self_test_passed) return "undecided: planted faults were not found, so that no fault found says nothing";
    if (tally.bits_compared() < run.bits_wanted)
        return fmt::format("undecided: {:.2g} of {:.2g} bits were compared when the time was up", tally.bits_compared(),
                           run.bits_wanted);
    return "undecided: the time was up before every pair of tiers was reached";
}

std::string corruption_text(const CorruptionRun &run) {
    std::string out = fmt::format("{} ({} {}, {}){}\n", run.device_name.empty() ? run.device : run.device_name, run.plugin,
                                  run.plugin_version, run.plugin_file, run.emulated ? ": EMULATED" : "");
    if (!run.inject.empty())
        out += coloured(fmt::format("faults injected on purpose: {}", run.inject), Colour::yellow) + "\n";
    if (!run.said && !run.self_test.empty()) out += run.self_test + "\n";
    if (!run.said && !run.plan.empty()) out += "how far: " + run.plan + "\n";
    std::string names;
    for (const auto pattern : run.patterns)
        names += fmt::format("{}{} {}", names.empty() ? "" : ", ", info_of(pattern).id, info_of(pattern).name);
    out += fmt::format("patterns: {}; seed {:#x}; {} whole iteration{} in {:.1f} s\n\n", names, run.options.seed,
                       run.iterations, run.iterations == 1 ? "" : "s", run.seconds);
    if (!run.tally.pairs.empty()) out += pairs_table(run) + "\n";
    out += errors(run.tally);
    for (const auto &note : run.notes) out += note + "\n";
    if (run.counters_before.empty())
        out += "error counters: the device and this machine have none that can be read\n";
    else if (run.counter_changes.empty())
        out += fmt::format("error counters: {} read before and after, none grew\n", run.counters_before.size());
    for (const auto &change : run.counter_changes) out += fmt::format("error counter: {}\n", change);
    if (run.tally.bits_compared() > 0)
        out += fmt::format("{} (for independent errors; a weak cell outside the coverage was not asked)\n",
                           run.options.rate > 0
                               ? bound_text(run.tally.incidents, run.tally.bits_compared(), run.options.confidence)
                               : bound_text(run.tally.incidents, run.tally.bits_compared()));
    const auto outcome = outcome_of(run);
    return out +
           coloured(outcome_text(run), outcome == Outcome::pass   ? Colour::green
                                       : outcome == Outcome::fail ? Colour::red
                                                                  : Colour::yellow) +
           "\n";
}

} // namespace hbf::integrity
