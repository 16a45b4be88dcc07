// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/matrix_report.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "core/output/json.hpp"
#include "core/output/table.hpp"

namespace hbf::conformance {
namespace {

std::string outcome(const Attempt &attempt) {
    return fmt::format("{}{}", to_string(attempt.status), attempt.tries > 1 ? ", at the second seed" : "");
}

std::string verdict(const MutantRow &row) {
    if (!row.unavailable.empty()) return "not tried";
    if (!row.base_clean()) return "base fails";
    return row.killed() ? "killed" : "SURVIVED";
}

Colour colour_of(const MutantRow &row) {
    if (!row.unavailable.empty()) return Colour::yellow;
    return row.killed() && row.base_clean() ? Colour::green : Colour::red;
}

std::string names_of(const std::vector<Attempt> &attempts) {
    std::string names;
    for (const Attempt &attempt : attempts) names += (names.empty() ? "" : ", ") + attempt.case_name;
    return names;
}

std::string manner_of(const MutantRow &row, const Attempt &attempt) {
    if (!attempt.kills()) return "did not find it";
    if (attempt.status != row.mutant->verdict) return "found it by accident only";
    return fmt::format("found it and does not say \"{}\"", row.mutant->says);
}

// What went wrong in a row, a line each.
std::string complaints(const MutantRow &row) {
    std::string text;
    for (const Attempt &attempt : row.intended)
        if (row.unavailable.empty() && !row.as_due(attempt))
            text += fmt::format("{}: {} {}: {}{}{}\n", row.mutant->name, attempt.case_name, manner_of(row, attempt),
                                to_string(attempt.status), attempt.reason.empty() ? "" : ": ", attempt.reason);
    if (!row.base_clean())
        for (const Attempt &attempt : row.base)
            if (attempt.status != Status::pass)
                text += fmt::format("{}: {} on the same without the fault: {}{}{}\n", row.mutant->name, attempt.case_name,
                                    to_string(attempt.status), attempt.reason.empty() ? "" : ": ", attempt.reason);
    if (!row.unavailable.empty()) text += fmt::format("{}: not tried: {}\n", row.mutant->name, row.unavailable);
    return text;
}

// The part of a line of the table that must not change unseen.
std::string table_start(const Mutant &mutant) {
    return fmt::format("| `{}` | {} | {} | {} |", mutant.name, base_of(mutant), mutant.description,
                       fmt::join(mutant.killers, ", "));
}

// Lines of a table, by the mutant's name.
std::map<std::string, std::string> lines_of(const std::string &table) {
    std::map<std::string, std::string> lines;
    std::istringstream in(table);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("| `")) lines[line.substr(3, line.find('`', 3) - 3)] = line;
    return lines;
}

// "" where there is none.
std::string last_cell(const std::map<std::string, std::string> &lines, const std::string &name) {
    const auto at = lines.find(name);
    const size_t end = at == lines.end() ? std::string::npos : at->second.rfind(" |");
    if (end == std::string::npos) return {};
    const size_t begin = at->second.rfind("| ", end - 1) + 2;
    return begin > end ? std::string() : at->second.substr(begin, end - begin);
}

Json json_of(const Attempt &attempt) {
    return Json::object({{"case", attempt.case_name},
                         {"status", to_string(attempt.status)},
                         {"kills", attempt.kills()},
                         {"tries", attempt.tries},
                         {"reason", attempt.reason}});
}

Json json_of(const std::vector<Attempt> &attempts) {
    Json list = Json::array();
    for (const Attempt &attempt : attempts) list.push(json_of(attempt));
    return list;
}

size_t count(const Matrix &matrix, const std::string &word) {
    return static_cast<size_t>(
        std::count_if(matrix.rows.begin(), matrix.rows.end(), [&](const MutantRow &row) { return verdict(row) == word; }));
}

} // namespace

std::string matrix_text(const Matrix &matrix) {
    std::vector<std::vector<Cell>> rows;
    std::string wrong;
    for (const MutantRow &row : matrix.rows) {
        for (size_t i = 0; i < std::max<size_t>(row.intended.size(), 1); ++i)
            rows.push_back({i == 0 ? std::string(row.mutant->name) : "", i == 0 ? base_of(*row.mutant) : "",
                            i == 0 ? Cell(verdict(row), colour_of(row)) : Cell(""),
                            i < row.intended.size() ? row.intended[i].case_name : "",
                            i < row.intended.size() ? outcome(row.intended[i]) : ""});
        if (!row.others.empty()) rows.push_back({"", "", "", "also: " + names_of(row.others), ""});
        wrong += complaints(row);
    }
    std::string text = format_table({"mutant", "base", "verdict", "must be found by", "which said"}, rows);
    if (!wrong.empty() || !matrix.disagreements.empty()) text += "\n";
    for (const std::string &one : matrix.disagreements) text += one + "\n";
    text += wrong;
    text += fmt::format(
        "\n{} mutants: {} killed by every case that must find them, {} survived, {} with a base that fails, {} not "
        "tried; {} disagreements; {} runs in {:.0f} s{}\n",
        matrix.rows.size(), count(matrix, "killed"), count(matrix, "SURVIVED"), count(matrix, "base fails"),
        count(matrix, "not tried"), matrix.disagreements.size(), matrix.runs, matrix.seconds,
        matrix.interrupted ? "; interrupted" : "");
    return text;
}

std::string matrix_json(const Matrix &matrix) {
    Json rows = Json::array();
    for (const MutantRow &row : matrix.rows) {
        Json one = Json::object({{"name", row.mutant->name},
                                 {"description", row.mutant->description},
                                 {"base", to_string(row.mutant->base)},
                                 {"base", base_of(*row.mutant)},
                                 {"machine", row.mutant->machine},
                                 {"fault", row.mutant->fault},
                                 {"verdict", verdict(row)}});
        if (!row.unavailable.empty()) one.set("unavailable", row.unavailable);
        one.set("intended", json_of(row.intended)).set("without_fault", json_of(row.base));
        if (matrix.full) one.set("others", json_of(row.others));
        rows.push(one);
    }
    return Json::object({{"schema_version", 1},
                         {"good", matrix.good()},
                         {"complete", matrix.complete()},
                         {"interrupted", matrix.interrupted},
                         {"full", matrix.full},
                         {"runs", matrix.runs},
                         {"seconds", matrix.seconds},
                         {"disagreements", Json::array_of(matrix.disagreements)},
                         {"mutants", rows}})
        .dump();
}

std::string matrix_table(const Matrix &matrix, const std::vector<Mutant> &mutants, const std::string &before) {
    const auto known = lines_of(before);
    std::string text =
        "# Kill matrix\n\n"
        "Each mutant, and the cases that must find it. Written by `hbf conformance mutants --full --write`; its first "
        "four\ncolumns are compared with the catalogue by `hbf conformance mutants --golden`.\n\n"
        "| mutant | base | what is wrong | must be found by | also found by |\n|---|---|---|---|---|\n";
    std::map<std::string_view, const MutantRow *> tried;
    for (const MutantRow &row : matrix.rows) tried[row.mutant->name] = &row;
    for (const Mutant &mutant : mutants) {
        const auto at = tried.find(mutant.name);
        const bool known_now = matrix.full && at != tried.end() && at->second->unavailable.empty();
        text += table_start(mutant) + fmt::format(" {} |\n", known_now ? names_of(at->second->others)
                                                                       : last_cell(known, std::string(mutant.name)));
    }
    return text;
}

std::vector<std::string> table_differences(const std::string &table, const std::vector<Mutant> &mutants) {
    auto lines = lines_of(table);
    std::vector<std::string> found;
    for (const Mutant &mutant : mutants) {
        const auto at = lines.find(std::string(mutant.name));
        if (at == lines.end())
            found.push_back(fmt::format("the golden table lacks {}", mutant.name));
        else if (!at->second.starts_with(table_start(mutant)))
            found.push_back(fmt::format("the golden table has {} otherwise than the catalogue", mutant.name));
        if (at != lines.end()) lines.erase(at);
    }
    for (const auto &[name, line] : lines)
        found.push_back(fmt::format("the golden table has {}, the catalogue does not", name));
    if (!found.empty()) found.push_back("remedy: hbf conformance mutants --full --write FILE");
    return found;
}

} // namespace hbf::conformance
