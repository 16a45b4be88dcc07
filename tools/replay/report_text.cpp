// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "core/output/table.hpp"
#include "core/output/terminal.hpp"
#include "tools/replay/report.hpp"

namespace hbf::replay {
namespace {

std::string points(double share) { // of a hundred
    return fmt::format("{:.2f}", share * 100);
}

const Tally &best_at(const TraceResults &results, const Capacity &capacity) {
    for (const auto &[at, tally] : results.best) {
        if (at.text == capacity.text) return tally;
    }
    return results.best.front().second;
}

std::string per_request(uint64_t count, const TraceResults &results) {
    return fmt::format("{:.2f}", static_cast<double>(count) / static_cast<double>(results.trace.requests()));
}

std::string table(const TraceResults &results, const Options &options) {
    std::vector<std::string> header = {"CAPACITY", ">BLOCKS", "POLICY", ">USABLE %", ">REGRET", ">BLOCK HITS %"};
    const bool two = results.lower.has_value();
    if (two)
        header.insert(header.end(), {">UPPER %", ">UP/REQ", ">DOWN/REQ", ">UP", ">DOWN"});
    else
        header.emplace_back(">WRITTEN");
    std::vector<std::vector<Cell>> rows;
    for (const auto &result : results.results) {
        const Tally &tally = result.tally;
        const double regret = best_at(results, result.capacity).share() - tally.share();
        const double hits = static_cast<double>(tally.hits) / static_cast<double>(tally.accesses);
        std::string policy = result.policy;
        if (result.half_life > 0) policy += fmt::format(" (half-life {:.0f})", result.half_life);
        std::vector<Cell> row = {
            result.capacity.text, std::to_string(result.capacity.blocks), policy, points(tally.share()), points(regret),
            points(hits)};
        if (two) {
            const double fast = static_cast<double>(tally.fast) / static_cast<double>(tally.tokens);
            for (const auto &cell :
                 {points(fast), per_request(tally.up_blocks, results), per_request(tally.down_blocks, results),
                  format_size(tally.up_tokens * options.bytes_per_token),
                  format_size(tally.down_tokens * options.bytes_per_token)})
                row.emplace_back(cell);
        } else {
            row.emplace_back(format_size(tally.admitted_tokens * options.bytes_per_token));
        }
        rows.push_back(std::move(row));
    }
    return format_table(header, rows, "  ");
}

} // namespace

std::string plot_text(const TraceResults &results) {
    double most = 0;
    size_t name_width = 0;
    for (const auto &[capacity, tally] : results.best) most = std::max(most, tally.share());
    for (const auto &result : results.results) {
        most = std::max(most, result.tally.share());
        name_width = std::max(name_width, result.policy.size());
    }
    const size_t room = output_width(), taken = name_width + 14;
    const size_t width = room > taken + 10 ? room - taken : 10;
    const auto length = [&](double share) {
        return most == 0 ? 0 : static_cast<size_t>(std::lround(share / most * static_cast<double>(width)));
    };
    std::string text;
    std::string last;
    for (const auto &result : results.results) {
        if (result.capacity.text != last) text += fmt::format("  {}\n", result.capacity.text);
        last = result.capacity.text;
        const double share = result.tally.share();
        const size_t bar = length(share), best = std::max(bar, length(best_at(results, result.capacity).share()));
        text += fmt::format("    {:<{}} {:#<{}}{:.<{}}| {}\n", result.policy, name_width, "", bar, "", best - bar,
                            points(share));
    }
    return text + "  #: usable tokens   ...|: up to what Belady serves\n";
}

std::string report_text(const std::vector<TraceResults> &all, const Options &options) {
    std::string text;
    for (const auto &results : all) {
        const Trace &trace = results.trace;
        if (!text.empty()) text += "\n";
        text += fmt::format("{}: {} requests, {} blocks, {} tokens asked for, {} of the trace's time\n", trace.name,
                            trace.requests(), trace.blocks, results.tokens, format_duration(trace.seconds));
        if (results.lower)
            text += fmt::format("  lower level: {} ({} blocks); copies stay there when a block comes up\n",
                                results.lower->text, results.lower->blocks);
        text += table(results, options);
        if (options.plot) text += "\n" + plot_text(results);
        for (const auto &note : trace.notes) text += fmt::format("  note: {}\n", note);
    }
    return text + fmt::format("\nUSABLE: of 100 tokens asked for those in an unbroken run of held blocks from the head on.\n"
                              "REGRET: what Belady{} serves above that, in points. Bytes: {} a token.\n",
                              all.front().lower ? ", with the lower level's capacity alone," : "",
                              format_size(options.bytes_per_token));
}

} // namespace hbf::replay
