// SPDX-License-Identifier: Apache-2.0
// Runs one case in this process and judges how it went: everything that a case or plugin can throw becomes a status here.
#pragma once

#include <cstdint>

#include "conformance/runner/record.hpp"
#include "conformance/suite/case.hpp"
#include "conformance/suite/subject.hpp"

namespace hbf::conformance {

// The record lacks overhead_s and replay: these are known outside. Its log holds what the plugin logged.
CaseRecord run_case(const Case &entry, const SubjectOptions &options, uint64_t seed, Profile profile);

} // namespace hbf::conformance
