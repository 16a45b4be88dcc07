// SPDX-License-Identifier: Apache-2.0
#include "bench/command.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include "conformance/measure/clock.hpp"

extern char **environ;

namespace hbf::bench {

using measure::Clock;

double seconds_of(std::vector<std::string> command) {
    std::vector<char *> arguments;
    for (auto &word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const auto begin = Clock::now();
    const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error(fmt::format("cannot run {}: {}", command[0], std::strerror(error)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            throw std::runtime_error(fmt::format("cannot wait for {}: {}", command[0], std::strerror(errno)));
    }
    const double seconds = measure::seconds_between(begin, Clock::now());
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw std::runtime_error(
            fmt::format("{} {} failed (status {})", command[0], command.size() > 1 ? command[1] : "", status));
    }
    return seconds;
}

} // namespace hbf::bench
