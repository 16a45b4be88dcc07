// SPDX-License-Identifier: Apache-2.0
#include "tools/plugin/report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "core/output/json.hpp"
#include "core/output/table.hpp"

namespace hbf::tools::plugin {
namespace {

constexpr Verdict verdicts[] = {Verdict::pass, Verdict::warn, Verdict::fail, Verdict::cannot_tell};

Cell cell_of(Verdict verdict) {
    constexpr Colour colours[] = {Colour::green, Colour::yellow, Colour::red, Colour::yellow};
    return {std::string(to_string(verdict)), colours[static_cast<size_t>(verdict)]};
}

std::string file_of(const PluginFiles &files) {
    return printable((files.plugin_file.empty() ? files.manifest : files.plugin_file).string(), 4096);
}

size_t count(const std::vector<CheckedPlugin> &plugins, Verdict verdict) {
    size_t sum = 0;
    for (const CheckedPlugin &plugin : plugins) sum += plugin.findings.count(verdict);
    return sum;
}

std::string text_of(const CheckedPlugin &plugin) {
    std::string out = file_of(plugin.files);
    if (const auto &manifest = plugin.files.content)
        out += fmt::format("  {} {} by {}", manifest->name, manifest->version, manifest->vendor);
    out += "\n";
    std::vector<std::vector<Cell>> rows;
    for (const Finding &finding : plugin.findings.all()) {
        rows.push_back(
            {cell_of(finding.verdict), finding.rule.empty() ? "-" : finding.rule, finding.check, finding.evidence});
        if (!finding.remedy.empty()) rows.push_back({"", "", "", "remedy: " + finding.remedy});
    }
    return out + format_table({"VERDICT", "RULE", "CHECK", "EVIDENCE"}, rows, "  ");
}

Json json_of(const CheckedPlugin &plugin) {
    Json checks = Json::array();
    for (const Finding &finding : plugin.findings.all())
        checks.push(Json::object({{"check", finding.check},
                                  {"rule", finding.rule.empty() ? Json() : Json(finding.rule)},
                                  {"verdict", to_string(finding.verdict)},
                                  {"evidence", finding.evidence},
                                  {"remedy", finding.remedy.empty() ? Json() : Json(finding.remedy)}}));
    const auto path = [](const std::filesystem::path &file) { return file.empty() ? Json() : Json(file.string()); };
    const auto &manifest = plugin.files.content;
    return Json::object({{"library", path(plugin.files.plugin_file)},
                         {"manifest", path(plugin.files.manifest)},
                         {"name", manifest ? Json(manifest->name) : Json()},
                         {"version", manifest ? Json(manifest->version) : Json()},
                         {"verdict", to_string(verdict_of({plugin}))},
                         {"checks", checks}});
}

} // namespace

Verdict verdict_of(const std::vector<CheckedPlugin> &plugins) {
    if (count(plugins, Verdict::fail) > 0) return Verdict::fail;
    return count(plugins, Verdict::cannot_tell) > 0 ? Verdict::cannot_tell : Verdict::pass;
}

std::string check_text(const std::vector<CheckedPlugin> &plugins) {
    std::string out;
    for (const CheckedPlugin &plugin : plugins) out += text_of(plugin) + "\n";
    std::vector<std::string> parts;
    for (const Verdict verdict : verdicts)
        parts.push_back(fmt::format("{} {}", count(plugins, verdict), to_string(verdict)));
    const Verdict verdict = verdict_of(plugins);
    const Colour colour = verdict == Verdict::pass ? Colour::green : verdict == Verdict::fail ? Colour::red : Colour::yellow;
    return out + fmt::format("{}: {}. What a pass does not show, hbf conformance does.\n",
                             coloured(verdict == Verdict::pass   ? "PASS"
                                      : verdict == Verdict::fail ? "FAIL"
                                                                 : "CANNOT TELL",
                                      colour),
                             fmt::join(parts, ", "));
}

std::string check_json(const std::vector<CheckedPlugin> &plugins) {
    Json all = Json::array(), counts = Json::object();
    for (const CheckedPlugin &plugin : plugins) all.push(json_of(plugin));
    for (const Verdict verdict : verdicts) counts.set(to_string(verdict), count(plugins, verdict));
    return Json::object(
               {{"schema_version", 1}, {"verdict", to_string(verdict_of(plugins))}, {"counts", counts}, {"plugins", all}})
        .dump();
}

} // namespace hbf::tools::plugin
