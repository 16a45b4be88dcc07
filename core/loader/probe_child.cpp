// SPDX-License-Identifier: Apache-2.0
#include "core/loader/probe_child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "core/loader/text.hpp"

namespace hbf::loader {
namespace {

constexpr size_t largest_answer = 4 * 1024 * 1024, kept_output = 4096;

// A pipe whose ends lie above the descriptors that the child is given.
Result<> make_pipe(Fd &read_end, Fd &write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(Code::exhausted, fmt::format("no pipe for a probe: {}", std::strerror(errno)));
    Fd raw_read(ends[0]), raw_write(ends[1]);
    read_end.reset(fcntl(raw_read.get(), F_DUPFD_CLOEXEC, 10));
    write_end.reset(fcntl(raw_write.get(), F_DUPFD_CLOEXEC, 10));
    if (!read_end || !write_end)
        return fail(Code::exhausted, fmt::format("no descriptor for a probe: {}", std::strerror(errno)));
    fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    return {};
}

// The request as a file, so that its size never blocks anyone.
Result<Fd> make_request(const std::string &text) {
    Fd raw(memfd_create("hbf-probe-request", MFD_CLOEXEC));
    Fd file(raw ? fcntl(raw.get(), F_DUPFD_CLOEXEC, 10) : -1);
    if (!file || write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        lseek(file.get(), 0, SEEK_SET) != 0) {
        return fail(Code::exhausted, fmt::format("no memory for a probe's request: {}", std::strerror(errno)));
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

int prepare(SpawnSetup &setup, const Fd &request, const Fd &output, const Fd &answer) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_adddup2(&setup.actions, request.get(), 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&setup.actions, output.get(), 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&setup.actions, output.get(), 2);
    if (!error) error = posix_spawn_file_actions_adddup2(&setup.actions, answer.get(), 3);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&setup.actions, 4); // an embedding program may leak some
    if (!error) error = posix_spawn_file_actions_addchdir_np(&setup.actions, "/");
    if (!error) error = posix_spawnattr_setsigmask(&setup.attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(&setup.attributes, &all);
    if (!error) error = posix_spawnattr_setpgroup(&setup.attributes, 0);
    if (!error)
        error = posix_spawnattr_setflags(&setup.attributes,
                                         POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return error;
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

ProbeChild::~ProbeChild() {
    finish(true);
}

Result<> ProbeChild::start(const std::filesystem::path &program, const ProbeJob &job) {
    Fd output, answer;
    if (auto made = make_pipe(output_, output); !made) return made;
    if (auto made = make_pipe(answer_, answer); !made) return made;
    const auto request = make_request(encode(job.request));
    if (!request) return tl::unexpected(request.error());

    SpawnSetup setup;
    std::vector<char *> environment;
    for (const std::string &variable : job.environment) environment.push_back(const_cast<char *>(variable.c_str()));
    environment.push_back(nullptr);
    std::string name = program.string();
    char *arguments[] = {name.data(), nullptr};
    int error = prepare(setup, *request, output, answer);
    if (!error)
        error = posix_spawn(&child_.id, program.c_str(), &setup.actions, &setup.attributes, arguments, environment.data());
    if (error) {
        child_.id = -1;
        return fail(Code::unsupported, fmt::format("{}: cannot be started: {}", program.string(), std::strerror(error)));
    }
    return {};
}

void ProbeChild::listen() {
    drain(answer_, [this](std::string_view block) {
        if (answer_text_.size() < largest_answer) answer_text_ += block;
        return true;
    });
    drain(output_, [this](std::string_view block) {
        output_size_ += block.size();
        output_text_ += block;
        if (output_text_.size() > 2 * kept_output) output_text_.erase(0, output_text_.size() - kept_output);
        flooded_ = output_size_ > output_limit_;
        return !flooded_;
    });
}

// Everything of the process's group goes with it: a plugin may have started helpers. The group is killed while the process
// is not yet waited for, so its id cannot have become another's.
void ProbeChild::finish(bool kill_first) {
    if (child_.id <= 0) return;
    siginfo_t info = {};
    if (kill_first) kill(-child_.id, SIGKILL);
    int waited;
    do waited = waitid(P_PID, static_cast<id_t>(child_.id), &info, WEXITED | WNOWAIT);
    while (waited != 0 && errno == EINTR);
    kill(-child_.id, SIGKILL);
    int status = 0;
    pid_t got;
    do got = waitpid(child_.id, &status, 0);
    while (got < 0 && errno == EINTR);
    // An embedding program that ignores SIGCHLD, or waits for every child, takes the status from us.
    if (got == child_.id)
        status_ = status;
    else
        status_lost_ = true;
    child_.id = -1;
    ended_at_ = Clock::now();
    over_ = true;
}

bool ProbeChild::ended(Clock::time_point now) {
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

std::optional<ProbeRecord> ProbeChild::answer() const {
    const size_t at = answer_text_.rfind("\nrecord ");
    if (at == std::string::npos || !answer_text_.ends_with('\n')) return std::nullopt;
    return decode_record(std::string_view(answer_text_).substr(at + 8));
}

ProbeOutcome ProbeChild::outcome() const {
    ProbeOutcome outcome;
    outcome.milliseconds = std::chrono::duration<double, std::milli>(ended_at_ - started_).count();
    ProbeStep step = ProbeStep::start;
    for (const std::string &line : split(answer_text_, '\n')) {
        if (line.starts_with("step ")) step = step_from(std::string_view(line).substr(5)).value_or(step);
    }
    const bool creating = step == ProbeStep::create || step == ProbeStep::destroy;
    const bool exited_well = status_lost_ || (status_ && WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0);
    if (flooded_) {
        outcome.record.reason = creating ? Reason::create_failed : Reason::probe_failed;
        outcome.record.detail = fmt::format(
            "printed more than {} KiB in {} and was stopped; a plugin writes to the host's log, not to stdout or stderr",
            output_limit_ / 1024, to_string(step));
    } else if (timed_out_) {
        const double seconds = std::chrono::duration<double>(time_).count();
        outcome.record.reason = creating ? Reason::create_failed : Reason::probe_timeout;
        outcome.record.detail =
            fmt::format("did not return from {} within {:.3g} s and was stopped; remedy: if the driver is only slow, "
                        "raise plugins.probe_timeout_s",
                        to_string(step), seconds);
    } else if (auto record = answer(); record && exited_well) {
        outcome.record = std::move(*record);
        outcome.answered = true;
        if (output_size_ > 0) {
            outcome.record.notes.push_back(fmt::format("printed {} bytes while it was probed: {}", output_size_,
                                                       printable(last_line(output_text_), 160)));
        }
    } else if (status_lost_) {
        outcome.record.detail =
            fmt::format("ended in {} without an answer; why is not known, since this program ignores SIGCHLD or "
                        "waits for every child itself",
                        to_string(step));
    } else {
        Refusal refusal = refusal_of_end(status_.value_or(0), step, output_text_);
        outcome.record.reason = refusal.reason;
        outcome.record.detail = std::move(refusal.detail);
    }
    return outcome;
}

Refusal refusal_of_end(int status, ProbeStep step, std::string_view output) {
    const bool creating = step == ProbeStep::create || step == ProbeStep::destroy;
    const std::string said = output.empty() ? "" : fmt::format("; it printed: {}", printable(last_line(output), 200));
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        return {creating ? Reason::create_failed : Reason::probe_crashed,
                fmt::format("crashed with SIG{} in {}{}", name ? name : std::to_string(WTERMSIG(status)), to_string(step),
                            said)};
    }
    return {creating ? Reason::create_failed : Reason::probe_failed,
            fmt::format("exited with status {} before answering, in {}{}", WEXITSTATUS(status), to_string(step), said)};
}

} // namespace hbf::loader
