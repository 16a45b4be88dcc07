// SPDX-License-Identifier: Apache-2.0
// What is not trusted is not even mentioned.
#include "conformance/mutants/guards/replaced.hpp"
#include "core/loader/decide.hpp"

namespace hbf::loader {

#define DECIDE "_ZN3hbf6loader6decideERSt6vectorINS0_5EntryESaIS2_EE"

void decide_as_it_was(std::vector<Entry> &entries) HBF_AS_IT_WAS(DECIDE);
void decide_in_silence(std::vector<Entry> &entries) HBF_IN_PLACE_OF(DECIDE);
void decide_in_silence(std::vector<Entry> &entries) {
    decide_as_it_was(entries);
    std::erase_if(entries, [](const Entry &entry) { return entry.candidate.reason == Reason::untrusted_path; });
}

} // namespace hbf::loader
