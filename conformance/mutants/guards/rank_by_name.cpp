// SPDX-License-Identifier: Apache-2.0
// Priority and version decide nothing.
#include <tuple>

#include "conformance/mutants/guards/replaced.hpp"
#include "core/loader/rank.hpp"

namespace hbf::loader {

bool before_by_name(const RankKey &a, const RankKey &b) HBF_IN_PLACE_OF("_ZN3hbf6loader12ranks_beforeERKNS0_7RankKeyES3_");
bool before_by_name(const RankKey &a, const RankKey &b) {
    return std::tie(a.name, a.found_index) < std::tie(b.name, b.found_index);
}

} // namespace hbf::loader
