// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "conformance/runner/record.hpp"

namespace hbf::conformance {

// All that one case left, for people: status and reason first, then evidence, metrics, notes and log, each indented.
std::string text_of(const CaseRecord &record);

std::string text_of(const Evidence &evidence); // one line
std::string text_of(const Metric &metric);     // "bandwidth.copy 1.2e+10 B/s (median of 30)"

} // namespace hbf::conformance
