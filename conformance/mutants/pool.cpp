// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/pool.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/common/fd.hpp"

namespace hbf::conformance {
namespace {

struct Worker {
    pid_t id = -1;
    Fd results;
    std::string text; // a line that is not whole yet
};

constexpr unsigned extra_workers = 2; // for what waits

// The number of the next piece of work, shared by all.
class Counter {
public:
    Counter(size_t count, size_t waiting)
        : count_(count), waiting_(waiting), at_(static_cast<Next *>(::mmap(nullptr, sizeof(Next), PROT_READ | PROT_WRITE,
                                                                           MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    ~Counter() {
        if (good()) ::munmap(at_, sizeof *at_);
    }
    Counter(const Counter &) = delete;
    Counter &operator=(const Counter &) = delete;
    bool good() const { return at_ != MAP_FAILED; }
    // `count`: there is no more.
    size_t next(bool only_waiting) {
        if (!only_waiting)
            if (const size_t i = waiting_ + at_->other.fetch_add(1); i < count_) return i;
        const size_t i = at_->waiting.fetch_add(1);
        return i < waiting_ ? i : count_;
    }
    void stop() {
        at_->waiting.store(waiting_);
        at_->other.store(count_);
    }

private:
    struct Next { // zero, as fresh memory is
        std::atomic<size_t> waiting, other;
    };
    const size_t count_, waiting_;
    Next *const at_;
};

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t done = ::write(fd, text.data(), text.size());
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        text.remove_prefix(static_cast<size_t>(done));
    }
    return true;
}

[[noreturn]] void run(int results, size_t count, Counter &counter, bool only_waiting,
                      const std::function<std::string(size_t)> &work) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = counter.next(only_waiting); i < count; i = counter.next(only_waiting))
        if (!write_all(results, fmt::format("{} {}\n", i, work(i)))) ::_exit(1);
    ::_exit(0);
}

// False once there is no more to come.
bool receive(Worker &worker, const std::function<void(size_t, std::string)> &take) {
    char buffer[4096];
    const ssize_t got = ::read(worker.results.get(), buffer, sizeof buffer);
    if (got < 0) return errno == EINTR;
    worker.text.append(buffer, static_cast<size_t>(got));
    for (size_t end; (end = worker.text.find('\n')) != std::string::npos; worker.text.erase(0, end + 1)) {
        size_t index = 0;
        const char *const first = worker.text.data();
        const auto number = std::from_chars(first, first + end, index);
        take(index, std::string(number.ptr + 1, first + end));
    }
    return got > 0;
}

} // namespace

tl::expected<void, std::string> share_out(size_t count, unsigned workers, const std::function<std::string(size_t)> &work,
                                          const std::function<void(size_t, std::string)> &take,
                                          const std::function<int()> &interrupted, size_t waiting) {
    Counter counter(count, waiting);
    if (!counter.good()) return tl::unexpected(fmt::format("no memory to share: {}", std::strerror(errno)));
    std::vector<Worker> running;
    std::string failure;
    const unsigned all = workers + (waiting > 0 ? extra_workers : 0);
    for (unsigned i = 0; i < all && i < count; ++i) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(fmt::format("no pipe: {}", std::strerror(errno)));
        Fd results(ends[0]), other(ends[1]);
        const pid_t id = ::fork();
        if (id == 0) run(other.get(), count, counter, i >= workers, work);
        if (id < 0) {
            failure = fmt::format("no process for a worker: {}", std::strerror(errno));
            break;
        }
        running.push_back({id, std::move(results), {}});
    }
    while (!running.empty()) {
        if ((interrupted && interrupted() != 0) || !failure.empty()) counter.stop();
        std::vector<pollfd> fds;
        for (const Worker &worker : running) fds.push_back({worker.results.get(), POLLIN, 0});
        ::poll(fds.data(), fds.size(), 200);
        for (size_t i = running.size(); i-- > 0;) {
            if (fds[i].revents == 0 || receive(running[i], take)) continue;
            int status = 0;
            ::waitpid(running[i].id, &status, 0);
            if (status != 0 && !(interrupted && interrupted() != 0))
                failure = fmt::format("a worker ended before its work (wait status {:#x})", status);
            running.erase(running.begin() + static_cast<ptrdiff_t>(i));
        }
    }
    if (!failure.empty()) return tl::unexpected(failure);
    return {};
}

} // namespace hbf::conformance
