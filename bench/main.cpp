// SPDX-License-Identifier: Apache-2.0
// The speed table. ./dev bench starts it.
#include <cstdlib>
#include <exception>

#include <fmt/format.h>

#include "bench/rows.hpp"
#include "core/output/stream.hpp"
#include "hbf/system.hpp"
#include "tools/cli/command.hpp"

namespace {

using namespace hbf;

struct Options {
    bench::Settings settings;
    uint64_t pairs = 15;
    bool json = false;
};

int run_table(const Options &options) {
    auto settings = options.settings;
    settings.pairs = options.pairs;
    settings.progress = [](const std::string &text) { show_progress(text); };
    std::vector<bench::Row> rows;
    bench::process_rows(settings, rows);
    bench::runner_rows(settings, rows);
    bench::placement_rows(settings, rows);
    auto system = System::open();
    if (!system) throw std::runtime_error(system.error().message);
    if (system->devices().empty())
        throw std::runtime_error("no plugin offers a device on this host; see 'hbf probe --explain'");
    bench::submit_rows(settings, *system, rows);
    bench::copy_rows(settings, *system, rows);
    bench::scan_rows(settings, *system, rows);
    bench::attention_rows(settings, *system, rows);
    bench::decode_rows(settings, rows);
    bench::tier_rows(settings, *system, rows);
    bench::kv_rows(settings, *system, rows);
#ifdef HBF_BENCH_OPENCL
    bench::opencl_rows(settings, rows);
#endif
#ifdef HBF_BENCH_NVIDIA
    bench::nvidia_rows(settings, rows);
#endif
#ifdef HBF_BENCH_AMD
    bench::amd_rows(settings, rows);
#endif
#ifdef HBF_BENCH_CAMBRICON
    bench::cambricon_rows(settings, rows);
#endif
#ifdef HBF_BENCH_LEVEL_ZERO
    bench::level_zero_rows(settings, rows);
#endif
    bench::storage_rows(settings, *system, rows);
    bench::cold_rows(settings, rows);
    bench::suite_rows(settings, rows);
    clear_progress();
    if (rows.empty()) {
        print_error("speed: no row is named like that");
        return static_cast<int>(tools::Exit::usage);
    }
    print(options.json ? bench::json_of(rows) : bench::table_of(rows));
    for (const auto &row : rows) {
        if (!row.holds()) return static_cast<int>(tools::Exit::fail);
    }
    return static_cast<int>(tools::Exit::pass);
}

} // namespace

int main(int argc, char **argv) {
    Options options;
    tools::Command table;
    table.name = "table";
    table.summary = "the speed table: each row beside its reference, in pairs, in this run";
    table.examples = "  speed table\n  speed table granule --pairs 30   only rows with 'granule' in their name";
    table.options = {
        {"ROW", &options.settings.only, "", "only rows with this in their name"},
        {"--pairs", tools::Number{&options.pairs, 10, 1000}, "N", "pairs of each row (default 15)"},
        {"--storage", &options.settings.storage, "DIR", "folder for the storage rows (default: the build folder)"},
        {"--build", &options.settings.build, "DIR", "the build folder (default build)"},
        {"--json", &options.json, "", "one JSON document with every pair"}};
    table.run = [&] { return run_table(options); };
    try {
        return tools::run_command_line({table}, argc, argv);
    } catch (const std::exception &error) {
        print_error(fmt::format("speed: {}", error.what()));
        return static_cast<int>(tools::Exit::error);
    }
}
