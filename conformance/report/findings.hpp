// SPDX-License-Identifier: Apache-2.0
// One fault makes many cases fail: what they found, each finding once, so that a reader sees what they have in common.
#pragma once

#include <string>
#include <vector>

#include "conformance/runner/record.hpp"

namespace hbf::conformance {

struct FindingGroup {
    std::string what;                      // the fault class, or how the case ended where it found none: "crashed"
    std::vector<const CaseRecord *> cases; // that failed with it, in the order of the run; into the record
    std::vector<std::string> tiers;        // named by their evidence, sorted
    const CaseRecord *telling = nullptr;   // of these, the one that says most: a place and a value, else a place
};

// Of the cases that failed; the finding of most cases first.
std::vector<FindingGroup> findings(const RunRecord &run);

// "integrity.pattern.address_hash and 11 more"
std::string example(const FindingGroup &finding);

} // namespace hbf::conformance
