// SPDX-License-Identifier: Apache-2.0
// Which plots a run has: the series its cases gave, and the distribution of each metric with enough samples.
#pragma once

#include <string>
#include <vector>

#include "conformance/runner/record.hpp"

namespace hbf::conformance {

struct Plot {
    std::string id; // of its canvas: "plot3"
    std::string of; // name of the case
    Series series;
};
std::vector<Plot> plots_of(const RunRecord &run);
std::string plots_json(const std::vector<Plot> &plots); // for page.js

// Equal bins from the least to the greatest value, about sqrt(n) of them, 5 to 40.
Series distribution(const std::string &name, const std::string &unit, const std::vector<double> &samples);

} // namespace hbf::conformance
