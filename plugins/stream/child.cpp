// SPDX-License-Identifier: Apache-2.0
#include "plugins/stream/child.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::stream {
namespace {

using Clock = std::chrono::steady_clock;

// What goes through the pipe: what `tag` says, its bytes, and the mark of the end, without which it is not whole.
constexpr char told = 'A', refused = 'F', end_mark = '.';

void write_all(int to, const std::string &text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = ::write(to, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) ::_exit(1);
        done += static_cast<size_t>(count);
    }
}

// In the child: nothing it prints, dumps or leaves behind is seen.
[[noreturn]] void answer(const std::function<std::string()> &ask, int to, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0)
        for (const int standard : {0, 1, 2}) ::dup2(null, standard);
    try {
        std::string text;
        try {
            text = told + ask();
        } catch (const sdk::Failure &failure) {
            text = fmt::format("{}{} {}", refused, failure.status, failure.message);
        }
        write_all(to, text + end_mark);
    } catch (...) {
        ::_exit(1); // as a crash
    }
    ::_exit(0);
}

class Child {
public:
    explicit Child(const std::function<std::string()> &ask) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            sdk::fail(HBF_EXHAUSTED, fmt::format("no pipe to ask the driver through: {}", std::strerror(errno)));
        const pid_t parent = ::getpid();
        pid_ = ::fork();
        if (pid_ == 0) {
            ::close(ends[0]);
            answer(ask, ends[1], parent);
        }
        ::close(ends[1]);
        from_ = ends[0];
        if (pid_ < 0) {
            ::close(from_);
            sdk::fail(HBF_EXHAUSTED, fmt::format("no process to ask the driver in: {}", std::strerror(errno)));
        }
    }
    ~Child() {
        ::close(from_);
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        (void)end();
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    // All it says until it ends; false: the time is over.
    bool listen(Clock::time_point until, std::string &text) const {
        for (;;) {
            pollfd ready{from_, POLLIN, 0};
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
            const int polled = ::poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
            if (polled < 0 && errno == EINTR) continue;
            if (polled <= 0) return false;
            char piece[4096];
            const ssize_t count = ::read(from_, piece, sizeof piece);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return true;
            text.append(piece, static_cast<size_t>(count));
        }
    }

    std::string end() {
        int status = 0;
        pid_t waited = 0;
        while ((waited = ::waitpid(pid_, &status, 0)) < 0 && errno == EINTR) {
        }
        pid_ = 0;
        if (waited < 0) return "ended"; // the host collects its children itself
        if (WIFSIGNALED(status)) {
            const char *const name = ::sigabbrev_np(WTERMSIG(status));
            return name ? fmt::format("ended by SIG{}", name) : fmt::format("ended by signal {}", WTERMSIG(status));
        }
        return fmt::format("exited with status {}", WEXITSTATUS(status));
    }

private:
    pid_t pid_ = 0;
    int from_ = -1;
};

} // namespace

ChildAnswer ask_in_child(const std::function<std::string()> &ask, std::chrono::milliseconds limit) {
    Child child(ask);
    std::string text;
    ChildAnswer out;
    out.late = !child.listen(Clock::now() + limit, text);
    const bool whole = text.size() >= 2 && text.back() == end_mark;
    if (out.late && !whole) {
        out.end = "did not answer in time";
        return out;
    }
    if (!whole) {
        out.end = child.end();
        return out;
    }
    text.pop_back();
    if (text.front() == refused) {
        const size_t space = text.find(' ');
        sdk::fail(static_cast<hbf_status>(std::stol(text.substr(1, space - 1))), text.substr(space + 1));
    }
    out.whole = true;
    out.told = text.substr(1);
    return out;
}

} // namespace hbf::stream
