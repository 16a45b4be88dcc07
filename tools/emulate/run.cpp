// SPDX-License-Identifier: Apache-2.0
#include "tools/emulate/run.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tools/signals.hpp"

namespace hbf::tools::emulate {
namespace {

std::vector<char *> pointers(const std::vector<std::string> &words) {
    std::vector<char *> out;
    for (const std::string &word : words) out.push_back(const_cast<char *>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

// Looks again and again rather than sleeping until the end: a signal to this process has to be handed on.
int wait_for(pid_t child) {
    bool told = false;
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(child, &status, told ? 0 : WNOHANG);
        if (ended == child) return status;
        if (ended < 0 && errno != EINTR) return -1;
        if (!told && interrupted() != 0) {
            // From a terminal it has it already; a second one does no harm to who ends in order.
            kill(child, SIGTERM);
            told = true;
        }
        if (ended == 0) {
            const timespec nap{0, 20'000'000};
            nanosleep(&nap, nullptr);
        }
    }
}

} // namespace

Result<int> run_command(const std::vector<std::string> &words, const std::vector<std::string> &environment) {
    const auto arguments = pointers(words), variables = pointers(environment);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all); // SIGPIPE is ignored here
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    const int error = posix_spawnp(&child, words.front().c_str(), nullptr, &attributes, arguments.data(), variables.data());
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return fail(Code::unavailable, fmt::format("{}: cannot be started: {}", words.front(), std::strerror(error)));
    const int status = wait_for(child);
    if (status < 0) return fail(Code::internal, fmt::format("{}: its end was not seen", words.front()));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace hbf::tools::emulate
