// SPDX-License-Identifier: Apache-2.0
// For tests: a row that was measured, and the fastest plain copy beside it.
#pragma once

#include "tools/bandwidth/judge.hpp"

namespace hbf::tools::bandwidth {

inline Row row_of(double gbs, double reference) {
    Row row;
    row.spec = {0, 0};
    row.op_size = 1 << 20;
    row.warmup_stable = true;
    for (int i = 0; i < 10; ++i) {
        row.samples.push_back({});
        row.gbs.push_back(gbs * (1 + 0.001 * i));
        row.wall_gbs.push_back(gbs);
    }
    row.references.push_back({measure::ReferenceCopy::libc_memcpy, 1, std::vector<double>(10, reference * 0.9)});
    row.references.push_back({measure::ReferenceCopy::streaming, 2, std::vector<double>(10, reference)});
    summarize(row);
    return row;
}

inline bool has(const std::vector<std::string> &texts, const std::string &part) {
    for (const auto &text : texts) {
        if (text.find(part) != std::string::npos) return true;
    }
    return false;
}

} // namespace hbf::tools::bandwidth
