// SPDX-License-Identifier: Apache-2.0
// Cases that end their process in ways that no case may.
#include <csignal>
#include <cstdlib>
#include <ctime>

#include <sys/wait.h>
#include <unistd.h>

#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

CaseInfo lying() {
    return {.limit_s = 2, .hidden = true, .unproven = "tries the runner, not a plugin"};
}

// Not a null pointer: a compiler may turn that into anything, and a sanitizer reports it before the signal.
void crash() {
    std::raise(SIGSEGV);
}

// Stays until it is killed: a signal handler that is never set cannot end it early.
[[noreturn]] void linger() {
    for (;;) pause();
}

HBF_CASE("lying.ends.crashes", {lying()}) {
    context.check(true, "never said");
    crash();
}

HBF_CASE("lying.ends.crashes_after_passing", {lying()}) {
    context.check(true, "never said");
    std::atexit(crash);
}

HBF_CASE("lying.ends.exit_1_after_passing", {lying()}) {
    context.check(true, "never said");
    std::atexit([] { _exit(1); });
}

HBF_CASE("lying.ends.exit_0_after_failing", {lying()}) {
    std::atexit([] { _exit(0); });
    context.check(false, "it did fail");
}

HBF_CASE("lying.ends.exit_0_without_record", {lying()}) {
    context.check(true, "never said");
    _exit(0);
}

HBF_CASE("lying.ends.kills_itself", {lying()}) {
    context.check(true, "never said");
    kill(getpid(), SIGKILL);
}

HBF_CASE("lying.ends.hangs", {lying()}) {
    context.check(true, "never said");
    linger();
}

HBF_CASE("lying.ends.hangs_after_passing", {lying()}) {
    context.check(true, "never said");
    std::atexit([] { linger(); });
}

HBF_CASE("lying.ends.stops_itself", {lying()}) {
    context.check(true, "never said");
    std::raise(SIGSTOP);
    linger();
}

HBF_CASE("lying.ends.leaves_a_child", {lying()}) {
    if (fork() == 0) linger();
    context.check(true, "never said");
}

// Out of the process group, and with another parent: only whoever adopts orphans finds it.
HBF_CASE("lying.ends.leaves_a_daemon", {lying()}) {
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) linger();
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    context.check(true, "never said");
}

} // namespace
} // namespace hbf::conformance
