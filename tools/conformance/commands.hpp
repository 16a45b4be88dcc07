// SPDX-License-Identifier: Apache-2.0
// What "hbf conformance" does with runs that were recorded: compare two, hand one in, check what was handed in.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "conformance/runner/record.hpp"
#include "tools/cli/command.hpp"

namespace hbf::tools {

Command conformance_diff_command();
Command conformance_mutants_command();
Command conformance_statement_command();
Command conformance_package_command();
Command conformance_verify_command();

// A report that "hbf conformance --json" wrote. The error names the file.
tl::expected<conformance::RunRecord, std::string> read_run(const std::string &path);

} // namespace hbf::tools
