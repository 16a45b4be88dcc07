// SPDX-License-Identifier: Apache-2.0
// What a plugin declares, asked in a process of its own: the runner's side of describe.hpp.
#pragma once

#include "conformance/runner/case_process.hpp"

namespace hbf::conformance {

// As from describe(); a plugin that ends the process gives "undecided" and the reason.
RunRecord describe_plugin(const CaseProcess &how, const CaseArguments &arguments);

uint32_t declared_capabilities(const RunRecord &description); // need:: bits
uint32_t needed_by(const CaseEntry &entry);

} // namespace hbf::conformance
