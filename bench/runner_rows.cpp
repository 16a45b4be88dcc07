// SPDX-License-Identifier: Apache-2.0
// What the conformance runner costs above a case: its process started, listened to, judged and collected.
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/rows.hpp"
#include "conformance/runner/case_process.hpp"

namespace hbf::bench {
namespace {

namespace fs = std::filesystem;

const conformance::CaseEntry &find(const std::vector<conformance::CaseEntry> &cases, const std::string &name) {
    for (const auto &entry : cases)
        if (entry.name == name) return entry;
    throw std::runtime_error("no case " + name);
}

} // namespace

void runner_rows(const Settings &settings, std::vector<Row> &rows) {
    Row row{"hbf conformance, cost per case", "s", "", Bar::at_most, 0.03, {}, {}, {}, {}};
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    conformance::CaseProcess how;
    how.program = fs::absolute(settings.build + "/conformance/runner/hbf-case");
    conformance::CaseArguments arguments;
    arguments.subject.plugin_file = fs::absolute(settings.build + "/plugins/host/hbf_plugin_host.so").string();
    const auto cases = conformance::list_cases(how);
    if (!cases) throw std::runtime_error(cases.error());
    const auto &entry = find(*cases, "dma.copy.guard_bytes_untouched");
    for (size_t i = 0; i < settings.pairs; ++i) {
        const auto record = conformance::run_case_process(how, entry, arguments, "");
        if (!record || record->status != conformance::Status::pass)
            throw std::runtime_error(record ? record->reason : record.error());
        row.ours.push_back(record->overhead_s);
    }
    row.notes.push_back(
        fmt::format("of {} on the host plugin: from before its process to after it, less the case", entry.name));
    rows.push_back(std::move(row));
}

} // namespace hbf::bench
