// SPDX-License-Identifier: Apache-2.0
// A tally as a case and a command show it: series for plots, evidence, one line.
#pragma once

#include <string>
#include <vector>

#include "conformance/integrity/tally.hpp"

namespace hbf::integrity {

// Lanes of 64 with the busiest marked, flips a word, words by place in the line: of what was wrong. Empty if nothing was.
std::vector<conformance::Series> series_of(const Tally &tally);

// The first records, at most `most`, the fault class refined by what all of them together show (a stuck lane).
std::vector<conformance::Evidence> evidence_of(const Tally &tally, size_t most);

} // namespace hbf::integrity
