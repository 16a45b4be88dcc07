// SPDX-License-Identifier: Apache-2.0
#include "core/common/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/common/orphans.hpp"

extern char **environ;

namespace hbf {
namespace {

// Only how soon a cancellation, and an end that nothing announces, are noticed depends on it.
constexpr std::chrono::milliseconds longest_nap{20};
// How long a process that ends its own may take for that, and how long others' orphans may take to end by themselves.
constexpr std::chrono::milliseconds patience{5000}, orphans_grace{200};

// A pipe whose ends lie above the descriptors that the child is given.
Result<> make_pipe(Fd &read_end, Fd &write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(Code::exhausted, fmt::format("no pipe for a process: {}", std::strerror(errno)));
    Fd raw_read(ends[0]), raw_write(ends[1]);
    read_end.reset(fcntl(raw_read.get(), F_DUPFD_CLOEXEC, 10));
    write_end.reset(fcntl(raw_write.get(), F_DUPFD_CLOEXEC, 10));
    if (!read_end || !write_end)
        return fail(Code::exhausted, fmt::format("no descriptor for a process: {}", std::strerror(errno)));
    fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    return {};
}

// The input as a file, so that its size never blocks anyone.
Result<Fd> make_input(const std::string &text) {
    Fd raw(memfd_create("hbf-input", MFD_CLOEXEC));
    Fd file(raw ? fcntl(raw.get(), F_DUPFD_CLOEXEC, 10) : -1);
    if (!file || write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        lseek(file.get(), 0, SEEK_SET) != 0) {
        return fail(Code::exhausted, fmt::format("no memory for a process's input: {}", std::strerror(errno)));
    }
    return file;
}

class SpawnSetup {
public:
    SpawnSetup() {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    SpawnSetup(const SpawnSetup &) = delete;
    SpawnSetup &operator=(const SpawnSetup &) = delete;
    ~SpawnSetup() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

int prepare(SpawnSetup &setup, const Fd &input, const Fd &output, const Fd &answer, const std::string &folder) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_adddup2(&setup.actions, input.get(), 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&setup.actions, output.get(), 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&setup.actions, output.get(), 2);
    if (!error) error = posix_spawn_file_actions_adddup2(&setup.actions, answer.get(), ChildProcess::answer_fd);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&setup.actions, 4); // an embedding program may leak some
    if (!error && !folder.empty()) error = posix_spawn_file_actions_addchdir_np(&setup.actions, folder.c_str());
    if (!error) error = posix_spawnattr_setsigmask(&setup.attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(&setup.attributes, &all);
    if (!error) error = posix_spawnattr_setpgroup(&setup.attributes, 0);
    if (!error)
        error = posix_spawnattr_setflags(&setup.attributes,
                                         POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return error;
}

std::vector<char *> pointers(const std::vector<std::string> &words) {
    std::vector<char *> out;
    for (const std::string &word : words) out.push_back(const_cast<char *>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

// Reads until nothing is there; closes at the end. `take` gets each block.
template <class Take>
void drain(Fd &fd, Take take) {
    std::array<char, 16384> block;
    while (fd) {
        const ssize_t count = read(fd.get(), block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count <= 0) return fd.reset();
        if (!take(std::string_view(block.data(), static_cast<size_t>(count)))) return;
    }
}

} // namespace

ChildProcess::~ChildProcess() {
    finish(true);
}

Result<> ChildProcess::start(const ChildSetup &setup) {
    output_limit_ = setup.output_limit;
    output_kept_ = setup.output_kept;
    answer_limit_ = setup.answer_limit;
    find_orphans_ = setup.find_orphans;
    ends_its_own_ = setup.ends_its_own;
    Fd output, answer;
    if (auto made = make_pipe(output_, output); !made) return made;
    if (auto made = make_pipe(answer_, answer); !made) return made;
    const auto input = make_input(setup.input);
    if (!input) return tl::unexpected(input.error());

    SpawnSetup spawn;
    std::vector<std::string> words = setup.arguments;
    words.insert(words.begin(), setup.program.string());
    const auto arguments = pointers(words);
    const auto environment = setup.environment ? pointers(*setup.environment) : std::vector<char *>{};
    int error = prepare(spawn, *input, output, answer, setup.folder);
    started_ = Clock::now();
    deadline_ = started_ + setup.time;
    if (!error)
        error = posix_spawn(&child_.id, setup.program.c_str(), &spawn.actions, &spawn.attributes, arguments.data(),
                            setup.environment ? environment.data() : environ);
    if (error) {
        child_.id = -1;
        return fail(Code::unsupported,
                    fmt::format("{}: cannot be started: {}", setup.program.string(), std::strerror(error)));
    }
    exit_.reset(static_cast<int>(syscall(SYS_pidfd_open, child_.id, 0)));
    return {};
}

void ChildProcess::add_to(std::vector<pollfd> &fds) const {
    for (const Fd *fd : {&answer_, &output_, &exit_})
        if (*fd) fds.push_back({fd->get(), POLLIN, 0});
}

std::chrono::milliseconds ChildProcess::nap(Clock::time_point now) const {
    constexpr std::chrono::milliseconds least{1};
    // Answer closed: the end is a moment away.
    if (!answer_ && !exit_) return least;
    return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(deadline_ - now), least, longest_nap);
}

void ChildProcess::listen() {
    drain(answer_, [this](std::string_view block) {
        if (answer_text_.size() < answer_limit_) answer_text_ += block;
        return true;
    });
    drain(output_, [this](std::string_view block) {
        output_size_ += block.size();
        output_text_ += block;
        if (output_text_.size() > 2 * output_kept_) output_text_.erase(0, output_text_.size() - output_kept_);
        flooded_ = output_size_ > output_limit_;
        return !flooded_;
    });
}

void ChildProcess::ask_to_end() const {
    kill(child_.id, SIGTERM);
    const auto limit = Clock::now() + patience;
    siginfo_t info = {};
    for (;;) {
        const int waited = waitid(P_PID, static_cast<id_t>(child_.id), &info, WEXITED | WNOWAIT | WNOHANG);
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now());
        if ((waited == 0 && info.si_pid == child_.id) || (waited != 0 && errno == ECHILD) || left.count() <= 0) return;
        pollfd end = {exit_.get(), POLLIN, 0};
        poll(&end, exit_ ? 1 : 0, static_cast<int>(exit_ ? left.count() : 1));
    }
}

// Everything of the process's group goes with it: a plugin may have started helpers. The group is killed while the process
// is not yet waited for, so its id cannot have become another's. Where orphans are to be found, they are found first.
void ChildProcess::finish(bool kill_first) {
    if (child_.id <= 0) return;
    siginfo_t info = {};
    if (kill_first && ends_its_own_) ask_to_end();
    if (kill_first) kill(-child_.id, SIGKILL);
    int waited;
    do waited = waitid(P_PID, static_cast<id_t>(child_.id), &info, WEXITED | WNOWAIT);
    while (waited != 0 && errno == EINTR);
    ended_at_ = Clock::now();
    if (!find_orphans_) kill(-child_.id, SIGKILL);
    int status = 0;
    pid_t got;
    do got = waitpid(child_.id, &status, 0);
    while (got < 0 && errno == EINTR);
    // An embedding program that ignores SIGCHLD, or waits for every child, takes the status from us.
    if (got == child_.id) status_ = status;
    child_.id = -1;
    exit_.reset();
    if (find_orphans_) orphans_ = end_orphans(orphans_grace);
    over_ = true;
}

bool ChildProcess::ended(Clock::time_point now) {
    if (over_) return true;
    siginfo_t info = {};
    const int waited = waitid(P_PID, static_cast<id_t>(child_.id), &info, WEXITED | WNOWAIT | WNOHANG);
    const bool gone = waited != 0 ? errno == ECHILD : info.si_pid == child_.id;
    timed_out_ = !gone && now >= deadline_;
    if (!gone && !timed_out_ && !flooded_) return false;
    finish(!gone);
    listen(); // what was still in the pipes
    return true;
}

void ChildProcess::stop() {
    finish(true);
    listen();
}

std::string signal_name(int signal) {
    const char *name = sigabbrev_np(signal);
    return fmt::format("SIG{}", name ? name : std::to_string(signal));
}

} // namespace hbf
