// SPDX-License-Identifier: Apache-2.0
// Runs something in a child process and outlives it, to end all that was started there: what leaves its group or session
// with setsid is still a descendant, and is adopted here (PR_SET_CHILD_SUBREAPER) when its own parent ends.
#pragma once

#include <csignal>
#include <functional>

namespace hbf::loader {

// In a process with one thread and no children.
class Warden {
public:
    Warden(); // from now on SIGTERM waits for run()
    Warden(const Warden &) = delete;
    Warden &operator=(const Warden &) = delete;

    // Forks. Returns, in the parent only, what `inside` returned; a child that died by a signal takes this process along by
    // the same one, and so does a SIGTERM to this process with SIGKILL. Before that everything the child left is killed.
    int run(const std::function<int()> &inside) const;

private:
    sigset_t before_;
};

} // namespace hbf::loader
