// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/failure.hpp"

#include "core/output/json.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/version.hpp"

namespace hbf::tools {
namespace {

constexpr const char *schema = "hbf.error";

std::string_view word_of(int exit_code) {
    switch (static_cast<Exit>(exit_code)) {
    case Exit::fail:
        return "fail";
    case Exit::usage:
        return "usage";
    case Exit::untested:
        return "untested";
    default:
        return exit_code > 128 ? "interrupted" : "error";
    }
}

} // namespace

std::string failure_json(int exit_code, const std::vector<std::string> &command_line, const std::vector<std::string> &said) {
    std::string message;
    for (const std::string &text : said) message += text.ends_with('\n') ? text : text + "\n";
    if (!message.empty()) message.pop_back();
    return Json::object({{"schema", schema},
                         {"schema_version", 1},
                         {"tool_version", tool_version()},
                         {"command", Json::array_of(command_line)},
                         {"exit_code", exit_code},
                         {"error", Json::object({{"code", word_of(exit_code)}, {"message", message}})}})
        .dump();
}

bool is_failure_json(std::string_view document) {
    const auto json = Json::parse(document);
    const auto found = json ? json->get("schema") : std::nullopt;
    return found && found->text() == schema;
}

} // namespace hbf::tools
