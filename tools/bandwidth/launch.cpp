// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/bandwidth/launches.hpp"

extern char **environ;

namespace hbf::tools::bandwidth {
namespace {

class Pipe {
public:
    Pipe() { (void)!pipe2(ends_, O_CLOEXEC); }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    bool is_open() const { return ends_[0] >= 0; }
    int end(int i) const { return ends_[i]; }
    void close_end(int i) {
        if (ends_[i] >= 0) close(ends_[i]);
        ends_[i] = -1;
    }
    // False at the end of what is written.
    bool read_some(std::string &out) const {
        char bytes[65536];
        const auto count = read(ends_[0], bytes, sizeof bytes);
        if (count > 0) out.append(bytes, static_cast<size_t>(count));
        return count > 0 || (count < 0 && errno == EINTR);
    }

private:
    int ends_[2] = {-1, -1};
};

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

tl::expected<Launch, std::string> launch(const std::string &program, const std::vector<std::string> &arguments,
                                         const std::function<int()> &interrupted) {
    Pipe out, err;
    if (!out.is_open() || !err.is_open()) return tl::unexpected(fmt::format("pipe: {}", std::strerror(errno)));
    std::vector<char *> argv;
    for (const auto &argument : arguments) argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out.end(1), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.end(1), STDERR_FILENO);
    // A group of its own: a signal from the terminal reaches it once, through us, for a second one would end it at once.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t child = -1;
    const int error = posix_spawn(&child, program.c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return tl::unexpected(fmt::format("{} did not start: {}", program, std::strerror(error)));
    out.close_end(1);
    err.close_end(1);

    Launch done;
    bool told = false, out_open = true, err_open = true;
    while (out_open || err_open) {
        pollfd ready[2] = {{out_open ? out.end(0) : -1, POLLIN, 0}, {err_open ? err.end(0) : -1, POLLIN, 0}};
        poll(ready, 2, 100); // ms: how soon a signal is passed on
        if (const int signal = interrupted(); signal != 0 && !told) {
            kill(child, signal);
            told = true;
        }
        if (ready[0].revents != 0) out_open = out.read_some(done.document);
        if (ready[1].revents != 0) err_open = err.read_some(done.messages);
    }
    done.exit_code = wait_for(child);
    return done;
}

} // namespace hbf::tools::bandwidth
