// SPDX-License-Identifier: Apache-2.0
// What a plugin and its device declare, as facts for the head of a report.
#pragma once

#include "conformance/runner/record.hpp"
#include "conformance/suite/subject.hpp"

namespace hbf::conformance {

// plugin, device, limits, health_before, emulated. Its verdict is "conformant" if all could be asked, "untested" if there is
// no device, else "undecided"; verdict_reason says why. Never throws: what could be asked before is kept.
RunRecord describe(const SubjectOptions &options);

// "cancel, crc": the value of this key in RunRecord::limits.
inline constexpr const char *capabilities_key = "capabilities";

} // namespace hbf::conformance
