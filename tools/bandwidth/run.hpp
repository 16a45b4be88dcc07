// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "tools/bandwidth/result.hpp"

namespace hbf::tools::bandwidth {

struct RunHooks {
    std::function<bool()> stop;                        // asked between steps: a clean stop is wanted
    std::function<void(const std::string &)> progress; // may be empty
};

// Measures all rows, interleaved: one sample of each and of its references, again and again. A row that cannot be measured
// says so in its status; the others go on.
Run measure_rows(Machine &machine, const std::vector<RowSpec> &rows, const Options &options, const RunHooks &hooks);

} // namespace hbf::tools::bandwidth
