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

// The first thing, as a sentence, that lives of an instance left behind. `first`: as it looked after the first of several
// lives. A driver that the plugin opened in it may have begun threads and opened files then that it keeps for as long as the
// process lives; those of the first life are its own, and a later one adds none. Without a driver nothing may be new.
std::string left_behind(const Visible &before, const Visible &first, double limit_s);

} // namespace hbf::conformance
