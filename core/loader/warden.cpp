// SPDX-License-Identifier: Apache-2.0
#include "core/loader/warden.hpp"

#include <chrono>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/common/orphans.hpp"

namespace hbf::loader {
namespace {

sigset_t watched() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGCHLD);
    return set;
}

// The child's status, as from waitpid.
int wait_for(pid_t child) {
    const sigset_t news = watched();
    for (;;) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) return status;
        if (sigwaitinfo(&news, nullptr) == SIGTERM) kill(child, SIGKILL);
    }
}

} // namespace

Warden::Warden() {
    const sigset_t blocked = watched();
    sigprocmask(SIG_BLOCK, &blocked, &before_);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int Warden::run(const std::function<int()> &inside) const {
    const pid_t child = fork();
    if (child < 0) return 5;
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before_, nullptr);
        _exit(inside()); // not return: static destructors of a plugin or a driver are not what is asked about
    }
    for (const int held : {0, 1, 2, 3}) close(held); // what is read from these must end with the child
    const int status = wait_for(child);
    end_orphans(std::chrono::milliseconds(0));
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    const int signal_number = WTERMSIG(status);
    sigset_t same;
    sigemptyset(&same);
    sigaddset(&same, signal_number);
    prctl(PR_SET_DUMPABLE, 0); // the child's death was reported, if it was to be
    signal(signal_number, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &same, nullptr);
    raise(signal_number);
    return 6; // not reached: that signal ends processes
}

} // namespace hbf::loader
