// SPDX-License-Identifier: Apache-2.0
// Whether cases and mutants say the same of each other.
#pragma once

#include <string>
#include <vector>

#include "conformance/mutants/mutant.hpp"
#include "conformance/runner/case_list.hpp"

namespace hbf::conformance {

// A sentence for each disagreement: a name that is not there, a kill that only one side knows, a case that kills nothing and
// does not say why, a mutant without a killer, one that is there twice.
std::vector<std::string> disagreements(const std::vector<CaseEntry> &cases, const std::vector<Mutant> &mutants);

} // namespace hbf::conformance
