// SPDX-License-Identifier: Apache-2.0
// Failing with evidence whose sentence is the reason.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/suite/context.hpp"
#include "hbf/abi/tier.h"

namespace hbf::conformance {

[[noreturn]] inline void fail_with(Evidence evidence) {
    std::string reason = evidence.detail;
    fail(std::move(reason), std::move(evidence));
}

// A check of something about a tier, or about one region of it: which kind of fault it would be, and where.
template <class... A>
void check_in(Context &context, bool good, std::string_view fault_class, std::string_view tier,
              fmt::format_string<A...> text, A &&...args) {
    context.count_check();
    if (good) return;
    Evidence evidence;
    evidence.fault_class = fault_class;
    evidence.tier = tier;
    evidence.detail = fmt::format(text, std::forward<A>(args)...);
    fail_with(std::move(evidence));
}

// The first byte at which two runs of the same length differ.
inline Evidence difference(std::string_view fault_class, std::string_view tier, const hbf_region_info &region,
                           uint64_t offset, const std::vector<std::byte> &expected, const std::vector<std::byte> &actual) {
    const auto at =
        static_cast<uint64_t>(std::mismatch(actual.begin(), actual.end(), expected.begin()).first - actual.begin());
    Evidence out;
    out.fault_class = fault_class;
    out.tier = tier;
    out.region = region.region;
    out.offset = offset + at;
    if (region.address) out.address = reinterpret_cast<uintptr_t>(region.address) + out.offset;
    out.expected = std::to_integer<uint64_t>(expected[at]);
    out.actual = std::to_integer<uint64_t>(actual[at]);
    out.width = 1;
    for (uint64_t i = at; i < actual.size(); ++i) out.wrong_bytes += actual[i] != expected[i];
    return out;
}

} // namespace hbf::conformance
