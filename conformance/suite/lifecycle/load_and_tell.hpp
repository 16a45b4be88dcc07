// SPDX-License-Identifier: Apache-2.0
// What opening a plugin's library does to a process that has not opened it yet. hbf-case starts itself for it
// (hbf-case --load PLUGIN), for its own process has the library open by the time a case runs.
#pragma once

#include <string>

#include "conformance/suite/forked.hpp"

namespace hbf::conformance {

// In the new process. Opens the library, looks at the process before and after, closes it, and tells on descriptor 3, a
// line each: "changed WHAT", "gone" (it was unloaded), "refused WHY" (it cannot be opened). Returns the exit status.
int load_and_tell(const char *library);

// Starts it. `printed` is what the library wrote to standard streams, at its end too.
Forked load_in_new_process(const std::string &library);

} // namespace hbf::conformance
