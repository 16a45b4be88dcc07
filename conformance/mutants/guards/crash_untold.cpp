// SPDX-License-Identifier: Apache-2.0
// A plugin that crashed is reported as one without a device.
#include "conformance/mutants/guards/replaced.hpp"
#include "core/loader/decide.hpp"

namespace hbf::loader {

#define DECIDE "_ZN3hbf6loader6decideERSt6vectorINS0_5EntryESaIS2_EE"

void decide_as_it_was(std::vector<Entry> &entries) HBF_AS_IT_WAS(DECIDE);
void decide_without_crashes(std::vector<Entry> &entries) HBF_IN_PLACE_OF(DECIDE);
void decide_without_crashes(std::vector<Entry> &entries) {
    decide_as_it_was(entries);
    for (Entry &entry : entries)
        if (entry.candidate.reason == Reason::probe_crashed) entry.candidate.reason = Reason::no_device;
}

} // namespace hbf::loader
