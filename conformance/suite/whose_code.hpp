// SPDX-License-Identifier: Apache-2.0
// Whose code calls: the plugin's, or that of a driver which the plugin opened while it ran.
//
// A driver is nobody's here to answer for: what it allocates, and which threads and files it keeps for the life of the
// process, its plugin cannot change. What was in the process when the plugin had been opened is the program, the plugin and
// what both are linked with; what comes later is a driver.
#pragma once

#include <string>
#include <vector>

namespace hbf::conformance {

// Takes the process as it is for one without drivers. Called once the plugin under test, and a peer's, are open.
void no_driver_yet() noexcept;

// True where the innermost caller that is not the C or C++ runtime's own code is a driver's. `caller`: a return address into
// whoever called the asker. Allocates nothing; false before no_driver_yet().
bool called_by_driver(void *caller) noexcept;

// Files of the drivers that are in the process by now.
std::vector<std::string> drivers();

} // namespace hbf::conformance
