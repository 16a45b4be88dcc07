// SPDX-License-Identifier: Apache-2.0
// A process that may do anything: crash, hang, print without end, leave helpers behind. It is started with nothing of ours
// but stdin, one descriptor for what it prints and one for its answer; it is listened to, stopped when its time or output is
// used up, and never outlives this object.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "core/common/fd.hpp"
#include "hbf/status.hpp"

namespace hbf {

struct ChildSetup {
    std::filesystem::path program;
    std::vector<std::string> arguments = {};                  // without the program's name
    std::optional<std::vector<std::string>> environment = {}; // "NAME=value"; none: this process's
    std::string input = {};                                   // all of stdin
    std::string folder = {};                                  // working directory; "": this process's
    std::chrono::milliseconds time{10'000};
    size_t output_limit = 256 * 1024; // bytes that it may print before it is stopped
    size_t output_kept = 4096;        // the last ones
    size_t answer_limit = 4 * 1024 * 1024;
    // This process adopts orphans (PR_SET_CHILD_SUBREAPER) and has no other children: what the child leaves behind is found,
    // wherever it hides, and named.
    bool find_orphans = false;
    // It adopts orphans itself, and on SIGTERM ends all that it started, then itself: that is how it is stopped, and it is
    // killed only if it does not heed that.
    bool ends_its_own = false;
};

// A process that outlived the one that started it, and was ended.
struct Orphan {
    pid_t id = 0;
    std::string name; // "sleep", as in /proc/PID/comm
};

class ChildProcess {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr int answer_fd = 3; // in the child; 0 is its input, 1 and 2 its output, others are closed

    ChildProcess() = default;
    ChildProcess(ChildProcess &&) noexcept = default;
    ChildProcess &operator=(ChildProcess &&) noexcept = default;
    ~ChildProcess(); // kills what still runs

    Result<> start(const ChildSetup &setup);
    void add_to(std::vector<pollfd> &fds) const; // what to wait for; also look again within nap()
    std::chrono::milliseconds nap(Clock::time_point now) const;
    void listen();                     // takes in what is there to read, without waiting
    bool ended(Clock::time_point now); // also stops it when its time or output is used up
    void stop();                       // kills and collects it now

    const std::string &answer() const { return answer_text_; }
    const std::string &output() const { return output_text_; } // the last of it
    size_t output_size() const { return output_size_; }        // all of it, bytes
    std::optional<int> status() const { return status_; }      // as from waitpid; none: somebody else collected it
    bool timed_out() const { return timed_out_; }
    bool flooded() const { return flooded_; }
    double seconds() const { return std::chrono::duration<double>(ended_at_ - started_).count(); }
    const std::vector<Orphan> &orphans() const { return orphans_; }

private:
    struct Child { // the process id, until it was waited for
        pid_t id = -1;
        Child() = default;
        Child(Child &&other) noexcept : id(std::exchange(other.id, -1)) {}
        Child &operator=(Child &&other) noexcept {
            std::swap(id, other.id);
            return *this;
        }
    };
    void ask_to_end() const;
    void finish(bool kill_first);

    size_t output_limit_ = 0, output_kept_ = 0, answer_limit_ = 0, output_size_ = 0;
    bool find_orphans_ = false, ends_its_own_ = false, timed_out_ = false, flooded_ = false, over_ = false;
    Clock::time_point started_ = {}, deadline_ = {}, ended_at_ = {};
    Child child_;
    Fd answer_, output_, exit_; // exit_: readable once it ended, where the kernel has such a thing
    std::string answer_text_, output_text_;
    std::optional<int> status_;
    std::vector<Orphan> orphans_;
};

// "SIGSEGV"
std::string signal_name(int signal);

} // namespace hbf
