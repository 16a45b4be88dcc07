// SPDX-License-Identifier: Apache-2.0
// A candidate that is refused for its driver gets no sentence.
#include "conformance/mutants/guards/replaced.hpp"
#include "core/loader/decide.hpp"

namespace hbf::loader {

#define DECIDE "_ZN3hbf6loader6decideERSt6vectorINS0_5EntryESaIS2_EE"

void decide_as_it_was(std::vector<Entry> &entries) HBF_AS_IT_WAS(DECIDE);
void decide_silently(std::vector<Entry> &entries) HBF_IN_PLACE_OF(DECIDE);
void decide_silently(std::vector<Entry> &entries) {
    decide_as_it_was(entries);
    for (Entry &entry : entries)
        if (entry.candidate.reason == Reason::driver_too_old) entry.candidate.detail.clear();
}

} // namespace hbf::loader
