// SPDX-License-Identifier: Apache-2.0
// A failure as a JSON document: what a program that asked for JSON reads where a command had no report to give.
//
//     {"schema": "hbf.error", "schema_version": 1, "tool_version": "0.1.0", "command": ["hbf", "bandwidth", "--json"],
//      "exit_code": 3, "error": {"code": "error", "message": "hbf bandwidth: ..."}}
//
// "code" is fail, usage, error, untested or interrupted; "message" is what stands on stderr.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hbf::tools {

std::string failure_json(int exit_code, const std::vector<std::string> &command_line, const std::vector<std::string> &said);

bool is_failure_json(std::string_view document);

} // namespace hbf::tools
