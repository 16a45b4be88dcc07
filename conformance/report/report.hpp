// SPDX-License-Identifier: Apache-2.0
// A run as text for whoever reads it: people, CI systems, test databases, a browser. All are made of the RunRecord and of
// nothing else, so that a report can be made again from its JSON form.
#pragma once

#include <string>

#include "conformance/runner/record.hpp"

namespace hbf::conformance {

struct TextOptions {
    bool all_cases = false; // also those that passed
};
std::string report_text(const RunRecord &run, const TextOptions &options = {});

std::string report_json(const RunRecord &run);  // report.schema.json
std::string report_junit(const RunRecord &run); // JUnit XML: a testsuite a group
std::string report_ocp(const RunRecord &run);   // OCP diagnostics specification 2.0, JSON lines: a step a case
std::string report_html(const RunRecord &run);  // one page, nothing is loaded from elsewhere

} // namespace hbf::conformance
