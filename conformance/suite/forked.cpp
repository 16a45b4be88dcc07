// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/forked.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t most_text = 64 * 1024;

struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for a child process");
        read = ends[0], write = ends[1];
    }
    ~Pipe() {
        close_write();
        close(read);
    }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    void close_write() {
        if (write >= 0) close(write);
        write = -1;
    }
    // False at the end.
    bool take(std::string &text) const {
        char block[4096];
        const ssize_t count = ::read(read, block, sizeof block);
        if (count < 0) return errno == EINTR;
        if (text.size() < most_text) text.append(block, static_cast<size_t>(count));
        return count > 0;
    }
};

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(fd, text.data(), text.size());
        if (count < 0 && errno != EINTR) return;
        if (count > 0) text.remove_prefix(static_cast<size_t>(count));
    }
}

// Listens until the child has ended or its time is up.
Forked watch(pid_t child, Pipe &said, Pipe &printed, double limit_s) {
    said.close_write();
    printed.close_write();
    const auto start = Clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    Forked result;
    int status = 0;
    bool ended = false, open[2] = {true, true};
    while (!ended) {
        pollfd waiting[2] = {{open[0] ? said.read : -1, POLLIN, 0}, {open[1] ? printed.read : -1, POLLIN, 0}};
        poll(waiting, 2, 2);
        if (waiting[0].revents) open[0] = said.take(result.said);
        if (waiting[1].revents) open[1] = printed.take(result.printed);
        ended = waitpid(child, &status, WNOHANG) == child;
        if (!ended && elapsed() > limit_s && !result.timed_out) {
            result.timed_out = true;
            kill(child, SIGKILL);
        }
    }
    result.seconds = elapsed();
    // A grandchild may keep the pipes open: only what is there.
    for (Pipe *pipe : {&said, &printed}) {
        pollfd waiting{pipe->read, POLLIN, 0};
        while (poll(&waiting, 1, 0) > 0 && pipe->take(pipe == &said ? result.said : result.printed)) {
        }
    }
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
    if (!result.said.empty() && result.said.back() == end_mark) {
        result.returned = true;
        result.said.pop_back();
    }
    return result;
}

} // namespace

std::string Forked::ending() const {
    if (timed_out) return fmt::format("did not end within {:.0f} s", seconds);
    if (signal != 0) return fmt::format("ended by SIG{}", sigabbrev_np(signal) ? sigabbrev_np(signal) : "?");
    return fmt::format("exited with status {}", code);
}

std::string Forked::trouble() const {
    if (!well()) return "the process " + ending() + (said.empty() ? "" : ": " + said);
    return said;
}

Forked run_forked(const std::function<std::string()> &body, double limit_s, Ending ending) {
    Pipe said, printed;
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no child process can be started");
    if (child == 0) {
        dup2(printed.write, STDOUT_FILENO);
        dup2(printed.write, STDERR_FILENO);
        std::string text;
        try {
            text = body();
        } catch (const Verdict &verdict) {
            text = verdict.reason;
        } catch (const std::exception &exception) { // it must not reach the parent's frames
            text = std::string("an exception of the case's own: ") + exception.what();
        } catch (...) {
            text = "something thrown that is no exception";
        }
        write_all(said.write, text + end_mark);
        if (ending == Ending::through_exit) std::exit(0);
        _exit(0);
    }
    return watch(child, said, printed, limit_s);
}

Forked run_program(const std::vector<std::string> &argv, double limit_s) {
    std::vector<char *> arguments;
    for (const std::string &argument : argv) arguments.push_back(const_cast<char *>(argument.c_str()));
    arguments.push_back(nullptr);
    Pipe said, printed;
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no child process can be started");
    if (child == 0) {
        // Moved out of the way first: 3 may be one of these, and dup2 to itself would keep its close-on-exec flag.
        const int to = fcntl(said.write, F_DUPFD_CLOEXEC, 10);
        dup2(printed.write, STDOUT_FILENO);
        dup2(printed.write, STDERR_FILENO);
        dup2(to, 3);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    return watch(child, said, printed, limit_s);
}

} // namespace hbf::conformance
