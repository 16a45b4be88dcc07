// SPDX-License-Identifier: Apache-2.0
// Machines for the tests of hbf doctor: one on which everything is as it should be, and ones on which one thing is not.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/host/machine_fixture.hpp"
#include "tools/doctor/finding.hpp"

namespace hbf::tools::doctor {

// Two accelerators and an InfiniBand card below a switch, an NVMe drive, a CXL expander; run by root.
void good_machine(test::FakeMachine &machine);
void good_machine_of_other_maker(test::FakeMachine &machine); // whose driver shows more in /sys

struct Scene {
    std::string name;
    void (*change)(test::FakeMachine &);     // of a good machine
    std::map<std::string, Verdict> expected; // of the checks that then come to something else; all others stay
};
const std::vector<Scene> &scenes();

} // namespace hbf::tools::doctor
