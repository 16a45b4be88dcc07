// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/package.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/report/report.hpp"
#include "conformance/report/signature.hpp"
#include "conformance/report/statement.hpp"
#include "conformance/report/summary.hpp"
#include "core/loader/sha256.hpp"

namespace hbf::conformance {
namespace {

std::string plain_name(std::string_view text) {
    std::string out;
    for (const char c : text)
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_') out += c;
    return out.substr(0, 40);
}

std::string log_of(const CaseRecord &record) {
    return fmt::format("{}\nseed {:#x}\nstatus {}\n{}\n\n{}", title(record), record.seed, to_string(record.status),
                       record.reason, record.log);
}

} // namespace

std::string package_name(const RunRecord &run) {
    std::string time = run.started;
    std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
    return fmt::format("hbf-conformance-{}-{}-{}", plain_name(fact(run.plugin, "name")), plain_name(fact(run.device, "id")),
                       plain_name(time));
}

tl::expected<Files, std::string> package_files(const RunRecord &run, const std::string &statement) {
    if (const auto gaps = statement_gaps(statement); !gaps) return tl::unexpected(gaps.error());
    Files out;
    out["results.json"] = report_json(run);
    out["junit.xml"] = report_junit(run);
    out["ocp.jsonl"] = report_ocp(run);
    out["report.html"] = report_html(run);
    out[statement_file] = statement;
    std::string command = fmt::format("{}\n", fmt::join(run.command_line, " "));
    out["command.txt"] = std::move(command);
    for (const CaseRecord &record : run.cases)
        out[fmt::format("logs/{}{}.log", record.name, record.mask.empty() ? "" : "-masked")] += log_of(record);
    return out;
}

std::string sums_of(const Files &files) {
    std::string out;
    for (const auto &[name, content] : files)
        if (name != sums_file && name != signature_file) out += fmt::format("{}  {}\n", loader::sha256_hex(content), name);
    return out;
}

tl::expected<std::string, std::string> make_package(const RunRecord &run, const std::string &statement,
                                                    const std::filesystem::path &key) {
    auto files = package_files(run, statement);
    if (!files) return tl::unexpected(files.error());
    const std::string sums = sums_of(*files);
    if (!key.empty()) {
        auto signature = sign(sums, key);
        if (!signature) return tl::unexpected(signature.error());
        (*files)[signature_file] = *signature;
    }
    (*files)[sums_file] = sums;
    return pack(package_name(run), *files, 0);
}

} // namespace hbf::conformance
