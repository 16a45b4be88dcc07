// SPDX-License-Identifier: Apache-2.0
// The conformance suite as a whole, once each: its quick profile on every emulated machine, and the kill matrix.
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/rows.hpp"

namespace hbf::bench {
namespace {

struct Machine {
    const char *name, *plugin;
};
constexpr Machine machines[] = {{"h100x4", "nvidia"}, {"a100", "nvidia"},      {"gh200", "nvidia"},
                                {"mi300x", "amd"},    {"mlu370", "cambricon"}, {"l0", "level_zero"}};

void once(const Settings &settings, std::vector<Row> &rows, Row row, const std::vector<std::string> &command) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    try {
        row.ours.push_back(seconds_of(command));
    } catch (const std::exception &error) {
        row.missing = error.what();
    }
    rows.push_back(std::move(row));
}

} // namespace

void suite_rows(const Settings &settings, std::vector<Row> &rows) {
    const std::string hbf = std::filesystem::absolute(settings.build + "/tools/hbf").string();
    for (const Machine &one : machines) {
        if (!std::filesystem::exists(fmt::format("{}/plugins/{}/hbf_plugin_{}.so", settings.build, one.plugin, one.plugin)))
            continue;
        Row row{fmt::format("suite quick on {} (emulated)", one.name), "s", "", Bar::at_most, 90, {}, {}, {}, {}};
        row.notes.push_back("once, conformant; no figure of hardware");
        once(settings, rows, std::move(row), {hbf, "emulate", one.name, "--", "hbf", "conformance", "--profile", "quick"});
    }
    Row row{"whole kill matrix", "s", "", Bar::at_most, 900, {}, {}, {}, {}};
    row.notes.push_back("once, every mutant killed by every case that must find it, two at a time");
    once(settings, rows, std::move(row), {hbf, "conformance", "mutants", "--jobs", "2"});
}

} // namespace hbf::bench
