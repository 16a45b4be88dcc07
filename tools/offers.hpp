// SPDX-License-Identifier: Apache-2.0
// Values that exist on this machine, for the completion of options (Option::words). Nothing is printed, and what cannot be
// found out is no candidate.
#pragma once

#include <string>
#include <vector>

namespace hbf::tools {

// Plugins and their devices, as `hbf probe` has them. What earlier probes found is reused; a plugin that must be looked at
// anew has a second.
std::vector<std::string> device_names();
std::vector<std::string> tier_names(); // of those devices, and the kinds of tiers

std::vector<std::string> case_names(); // of the conformance suite, and its groups
std::vector<std::string> fault_names();
std::vector<std::string> mask_names();
std::vector<std::string> mutant_names();
std::vector<std::string> pattern_names();

} // namespace hbf::tools
