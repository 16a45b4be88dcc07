// SPDX-License-Identifier: Apache-2.0
// What `hbf probe` found, as text for people and as one JSON document.
#pragma once

#include <string>

#include "hbf/selection.hpp"

namespace hbf::tools::probe {

// "HBF ready: host 0.1.0, 3 tiers" or "HBF not ready: ...": the last line.
std::string closing_line(const Selection &selection);
size_t tier_count(const Candidate &candidate);

std::string report_text(const Selection &selection);    // the plugins that serve, their devices and tiers
std::string report_explain(const Selection &selection); // every candidate: how far it came and why
std::string report_json(const Selection &selection);
std::string report_json(const Error &error); // when there is no selection

} // namespace hbf::tools::probe
