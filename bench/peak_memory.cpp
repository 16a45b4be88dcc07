// SPDX-License-Identifier: Apache-2.0
// The kernel's own high-water mark, read at the last moment at which the process still has its memory: wait4 would count the
// largest child that it waited for, too. Stopped there by ptrace(2), PTRACE_O_TRACEEXIT.
#include "bench/peak_memory.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hbf::bench {
namespace {

[[noreturn]] void become(char **arguments) noexcept {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 && ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0)
        execvp(arguments[0], arguments);
    _exit(127);
}

double high_water_mib(pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string word; status >> word;) {
        double kib = 0;
        if (word == "VmHWM:" && status >> kib) return kib / 1024;
    }
    throw std::runtime_error(fmt::format("/proc/{}/status says no VmHWM", process));
}

int next_change(pid_t process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR) throw std::runtime_error(fmt::format("cannot wait: {}", std::strerror(errno)));
    return status;
}

void go_on(pid_t process, int signal) {
    if (ptrace(PTRACE_CONT, process, nullptr, static_cast<long>(signal)) != 0 && errno != ESRCH)
        throw std::runtime_error(fmt::format("cannot go on: {}", std::strerror(errno)));
}

} // namespace

double peak_mib(std::vector<std::string> command) {
    std::vector<char *> arguments;
    for (auto &word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t process = fork();
    if (process < 0) throw std::runtime_error(fmt::format("cannot fork: {}", std::strerror(errno)));
    if (process == 0) become(arguments.data());

    int status = next_change(process); // the first is the stop of its exec
    if (WIFSTOPPED(status)) {
        if (ptrace(PTRACE_SETOPTIONS, process, nullptr, PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL) != 0) {
            const int why = errno;
            kill(process, SIGKILL);
            (void)next_change(process);
            throw std::runtime_error(fmt::format("cannot trace {}: {}", command[0], std::strerror(why)));
        }
        go_on(process, 0);
        status = next_change(process);
    }
    double peak = 0;
    for (; WIFSTOPPED(status); status = next_change(process)) {
        const bool at_exit = status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXIT << 8));
        if (at_exit) peak = high_water_mib(process);
        go_on(process, at_exit ? 0 : WSTOPSIG(status));
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || peak == 0)
        throw std::runtime_error(fmt::format("{} ended with status {:#x}, or may not be traced", command[0], status));
    return peak;
}

} // namespace hbf::bench
