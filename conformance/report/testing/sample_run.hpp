// SPDX-License-Identifier: Apache-2.0
// A run made up for the tests of the reports: one case of every status, with hostile texts in it.
#pragma once

#include "conformance/runner/record.hpp"

namespace hbf::conformance {

RunRecord sample_run();
RunRecord clean_run(uint64_t seed); // all cases pass; figures vary a little with the seed

} // namespace hbf::conformance
