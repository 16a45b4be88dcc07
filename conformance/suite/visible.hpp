// SPDX-License-Identifier: Apache-2.0
// What anyone in the process can see of it: what a plugin must leave as it found it.
#pragma once

#include <map>
#include <string>

namespace hbf::conformance {

struct Visible {
    std::map<std::string, std::string> threads;     // id -> name
    std::map<std::string, std::string> descriptors; // number -> target
    std::map<std::string, std::string> environment; // name -> value
    std::map<std::string, std::string> process;     // working directory, signal actions, locale, rounding mode, ...
};
Visible look();

// The first thing that is not as it was, as a sentence; "" if there is none: "descriptor 7 (/dev/null) is new".
std::string first_change(const Visible &before, const Visible &after);

// Waits until the kernel has taken away threads that were joined already (it does so a moment after the join), and until
// files that a thread had open for a moment are closed, at most `limit_s`. A thread that goes on is still there then, and a
// descriptor that was forgotten too.
Visible look_after_joins(const Visible &before, double limit_s);

} // namespace hbf::conformance
