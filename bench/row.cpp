// SPDX-License-Identifier: Apache-2.0
#include "bench/row.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/measure/statistics.hpp"
#include "core/output/json.hpp"
#include "core/output/size.hpp"
#include "core/output/table.hpp"

namespace hbf::bench {
namespace {

using measure::summarize;

std::string bar_text(const Row &row) {
    const auto bar = format_significant(row.bar, 3);
    switch (row.kind) {
    case Bar::ratio_at_least:
        return fmt::format(">= {:.2f}x", row.bar);
    case Bar::ratio_at_most:
        return fmt::format("<= {:.2f}x", row.bar);
    case Bar::excess_at_most:
        return fmt::format("<= +{} {}", bar, row.unit);
    case Bar::at_most:
        return fmt::format("<= {} {}", bar, row.unit);
    case Bar::none:
        return "none";
    }
    return "";
}

// "0.985 (0.95..1.02)": the median and all that was seen.
std::string compared_text(const Row &row) {
    const auto s = summarize(row.compared());
    return fmt::format("{} ({}..{})", format_significant(s.median, 3), format_significant(s.min, 3),
                       format_significant(s.max, 3));
}

Cell result_of(const Row &row) {
    if (row.kind == Bar::none) return Cell("measured");
    return row.holds() ? Cell("pass", Colour::green) : Cell("below bar", Colour::red);
}

} // namespace

bool Settings::wants(const std::string &row) const {
    return only.empty() ||
           std::any_of(only.begin(), only.end(), [&](const std::string &part) { return row.find(part) != row.npos; });
}

std::vector<double> Row::compared() const {
    if (kind == Bar::at_most) return ours;
    std::vector<double> out;
    for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
        out.push_back(kind == Bar::excess_at_most ? ours[i] - theirs[i] : ours[i] / theirs[i]);
    }
    return out;
}

bool Row::holds() const {
    const auto values = compared();
    if (!missing.empty() || values.empty()) return false;
    if (kind == Bar::none) return true;
    const double median = summarize(values).median;
    return kind == Bar::ratio_at_least ? median >= bar : median <= bar;
}

std::vector<std::vector<double>> interleave(const Settings &settings, const std::vector<Try> &tries) {
    std::vector<std::vector<double>> out(tries.size());
    for (size_t pair = 0; pair < settings.pairs; ++pair) {
        for (size_t i = 0; i < tries.size(); ++i) {
            const size_t turn = (pair + i) % tries.size();
            out[turn].push_back(tries[turn]());
        }
    }
    return out;
}

std::string table_of(const std::vector<Row> &rows) {
    std::vector<std::vector<Cell>> cells;
    std::string notes;
    for (const auto &row : rows) {
        for (const auto &note : row.notes) notes += fmt::format("{}: {}\n", row.name, note);
        if (!row.missing.empty()) {
            cells.push_back({row.name, "", "", "", bar_text(row), {"not measured", Colour::yellow}});
            notes += fmt::format("{}: not measured: {}\n", row.name, row.missing);
            continue;
        }
        const auto ours = summarize(row.ours), theirs = summarize(row.theirs);
        cells.push_back(
            {row.name, fmt::format("{} {}", format_significant(ours.median), row.unit),
             row.theirs.empty() ? "" : fmt::format("{} {} ({})", format_significant(theirs.median), row.unit, row.reference),
             compared_text(row), bar_text(row), result_of(row)});
    }
    return format_table({"what", ">ours", ">reference", ">compared: median (min..max)", "bar", "result"}, cells) + notes;
}

std::string json_of(const std::vector<Row> &rows) {
    auto list = Json::array();
    bool all = !rows.empty();
    for (const auto &row : rows) {
        const auto s = summarize(row.compared());
        auto one = Json::object({{"name", row.name},
                                 {"unit", row.unit},
                                 {"reference", row.reference},
                                 {"bar", row.bar},
                                 {"bar_text", bar_text(row)},
                                 {"pairs", s.count},
                                 {"pass", row.holds()}});
        one.set("compared_median", s.count ? Json(s.median) : Json()).set("compared_min", s.count ? Json(s.min) : Json());
        one.set("compared_max", s.count ? Json(s.max) : Json());
        one.set("ci95_low", s.ci95 ? Json(s.ci95->low) : Json()).set("ci95_high", s.ci95 ? Json(s.ci95->high) : Json());
        one.set("ours", Json::array_of(row.ours))
            .set("theirs", Json::array_of(row.theirs))
            .set("notes", Json::array_of(row.notes));
        one.set("missing", row.missing.empty() ? Json() : Json(row.missing));
        list.push(one);
        all = all && row.holds();
    }
    return Json::object({{"schema", "hbf.bench"}, {"schema_version", 1}, {"pass", all}, {"rows", list}}).dump();
}

} // namespace hbf::bench
