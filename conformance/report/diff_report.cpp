// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "conformance/report/diff.hpp"
#include "core/common/printable.hpp"
#include "core/output/json.hpp"
#include "core/output/stream.hpp"
#include "core/output/table.hpp"

namespace hbf::conformance {
namespace {

const char *word(Change change) {
    switch (change) {
    case Change::worse:
        return "worse";
    case Change::better:
        return "better";
    case Change::same:
        return "same";
    default:
        return "changed";
    }
}

Colour colour(Change change) {
    return change == Change::worse ? Colour::red : change == Change::better ? Colour::green : Colour::none;
}

std::string table(const char *heading, const std::vector<Difference> &differences) {
    if (differences.empty()) return {};
    std::vector<std::vector<Cell>> rows;
    for (const Difference &difference : differences)
        rows.push_back({Cell(word(difference.change), colour(difference.change)), Cell(printable(difference.what)),
                        Cell(printable(difference.before, 60)), Cell(printable(difference.after, 60)),
                        Cell(printable(difference.detail, 160))});
    return fmt::format("{}\n{}\n", heading, format_table({"", "what", "before", "after", ""}, rows, "  "));
}

Json array(const std::vector<Difference> &differences) {
    Json out = Json::array();
    for (const Difference &difference : differences)
        out.push(Json::object({{"what", difference.what},
                               {"before", difference.before},
                               {"after", difference.after},
                               {"change", word(difference.change)},
                               {"detail", difference.detail}}));
    return out;
}

std::string conclusion(const Comparison &comparison) {
    if (comparison.common_cases == 0) return "NOT COMPARABLE: the runs have no case in common";
    const std::string base =
        fmt::format("{} cases and {} figures compared", comparison.common_cases, comparison.compared_figures);
    return comparison.worse() ? "WORSE: " + base : "NOTHING WORSE: " + base;
}

} // namespace

std::string comparison_text(const Comparison &comparison) {
    std::string out = table("Not the same to begin with", comparison.setting) + table("Cases", comparison.cases) +
                      table("Figures", comparison.figures);
    if (comparison.figures_without_interval)
        out += fmt::format("{} figures have no confidence interval and were not compared\n",
                           comparison.figures_without_interval);
    const Colour tone = exit_code(comparison) == 0   ? Colour::green
                        : exit_code(comparison) == 1 ? Colour::red
                                                     : Colour::yellow;
    return out + coloured(conclusion(comparison), tone) + "\n";
}

std::string comparison_json(const Comparison &comparison) {
    return Json::object({{"schema_version", 1},
                         {"conclusion", conclusion(comparison)},
                         {"worse", comparison.worse()},
                         {"common_cases", comparison.common_cases},
                         {"compared_figures", comparison.compared_figures},
                         {"figures_without_interval", comparison.figures_without_interval},
                         {"setting", array(comparison.setting)},
                         {"cases", array(comparison.cases)},
                         {"figures", array(comparison.figures)}})
        .dump();
}

} // namespace hbf::conformance
