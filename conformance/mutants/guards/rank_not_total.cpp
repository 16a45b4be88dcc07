// SPDX-License-Identifier: Apache-2.0
// Names decide nothing: what ranks alike comes in an order that is another one at every second selection.
#include "conformance/mutants/guards/replaced.hpp"
#include "core/loader/decide.hpp"
#include "core/loader/rank.hpp"

namespace hbf::loader {

#define RANKS_BEFORE "_ZN3hbf6loader12ranks_beforeERKNS0_7RankKeyES3_"
#define DECIDE "_ZN3hbf6loader6decideERSt6vectorINS0_5EntryESaIS2_EE"

static int selections = 0;

bool before_as_it_was(const RankKey &a, const RankKey &b) HBF_AS_IT_WAS(RANKS_BEFORE);
bool before_by_turns(const RankKey &a, const RankKey &b) HBF_IN_PLACE_OF(RANKS_BEFORE);
bool before_by_turns(const RankKey &a, const RankKey &b) {
    if (selections % 2 == 1) return before_as_it_was(a, b);
    RankKey x = a, y = b;
    x.name.swap(y.name);
    return before_as_it_was(x, y);
}

void decide_as_it_was(std::vector<Entry> &entries) HBF_AS_IT_WAS(DECIDE);
void decide_by_turns(std::vector<Entry> &entries) HBF_IN_PLACE_OF(DECIDE);
void decide_by_turns(std::vector<Entry> &entries) {
    ++selections;
    decide_as_it_was(entries);
}

} // namespace hbf::loader
