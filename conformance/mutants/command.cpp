// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/command.hpp"

#include <fmt/format.h>

#include "conformance/mutants/matrix_report.hpp"
#include "core/common/read_file.hpp"
#include "core/output/file.hpp"
#include "core/output/json.hpp"
#include "core/output/stream.hpp"
#include "core/output/table.hpp"

namespace hbf::conformance {
namespace {

enum Exit { good = 0, bad = 1, usage = 2, undecided = 3 };

int refuse(const std::string &why) {
    print_error("hbf conformance mutants: " + why);
    return usage;
}

int list_mutants(bool json) {
    if (json) {
        Json list = Json::array();
        for (const Mutant &mutant : all_mutants())
            list.push(Json::object({{"name", mutant.name},
                                    {"description", mutant.description},
                                    {"base", base_of(mutant)},
                                    {"machine", mutant.machine},
                                    {"says", mutant.says},
                                    {"fault", mutant.fault},
                                    {"given", mutant.given},
                                    {"variant", mutant.variant},
                                    {"killers", Json::array_of(mutant.killers)}}));
        print(Json::object({{"schema_version", 1}, {"mutants", list}}).dump());
        return good;
    }
    std::vector<std::vector<Cell>> rows;
    for (const Mutant &mutant : all_mutants())
        rows.push_back({std::string(mutant.name), base_of(mutant), std::string(mutant.description)});
    print(format_table({"mutant", "base", "what is wrong"}, rows));
    return good;
}

} // namespace

int run_mutants_command(const MutantsCommand &command) {
    if (command.list) return list_mutants(command.json);
    std::vector<std::string> differences;
    if (!command.golden.empty()) {
        const auto table = read_file(command.golden, uint64_t{16} << 20);
        if (!table) return refuse(table.error().message);
        differences = table_differences(*table, all_mutants());
    }
    auto matrix = run_matrix(command.matrix);
    clear_progress();
    if (!matrix) return refuse(matrix.error());
    matrix->disagreements.insert(matrix->disagreements.end(), differences.begin(), differences.end());
    print(command.json ? matrix_json(*matrix) : matrix_text(*matrix));
    if (!command.write.empty()) {
        if (matrix->interrupted) return refuse(command.write + ": not written: the run was interrupted");
        if (matrix->full && !command.matrix.cases.empty())
            return refuse(command.write + ": not written: who else finds a mutant is known only of all cases");
        const auto former = read_file(command.write, uint64_t{16} << 20);
        const std::string before = former ? *former : std::string();
        if (const auto written = write_file(command.write, matrix_table(*matrix, all_mutants(), before)); !written)
            return refuse(written.error());
    }
    if (matrix->interrupted) return undecided;
    if (!matrix->good()) return bad;
    return matrix->complete() ? good : undecided;
}

} // namespace hbf::conformance
