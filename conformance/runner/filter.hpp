// SPDX-License-Identifier: Apache-2.0
// Which cases a run takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/runner/case_list.hpp"
#include "conformance/suite/case.hpp"

namespace hbf::conformance {

bool glob_matches(std::string_view pattern, std::string_view text); // '*' any, '?' one

struct CaseFilter {
    std::vector<std::string> take; // patterns; empty: all
    std::vector<std::string> skip;
    Profile profile = Profile::quick;
};

// Cases in the order they run: by name. A pattern with neither '*' nor '?' is a case's name or the beginning of it up to a
// dot
// ("dma", "dma.copy"). Hidden cases are taken by their full name only. The error names the pattern that matches nothing and
// what is near it, or the profile that would take what it does match.
tl::expected<std::vector<CaseEntry>, std::string> choose_cases(const std::vector<CaseEntry> &all, const CaseFilter &filter);

} // namespace hbf::conformance
