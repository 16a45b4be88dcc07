// SPDX-License-Identifier: Apache-2.0
// One running probe process, seen from the loader.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <sys/types.h>

#include "core/loader/fd.hpp"
#include "core/loader/probe_process.hpp"

namespace hbf::loader {

class ProbeChild {
public:
    using Clock = std::chrono::steady_clock;

    ProbeChild(size_t job, size_t output_limit, Clock::duration time)
        : job_(job), output_limit_(output_limit), time_(time), started_(Clock::now()), deadline_(started_ + time) {}
    ProbeChild(ProbeChild &&) noexcept = default;
    ProbeChild &operator=(ProbeChild &&) noexcept = default;
    ~ProbeChild(); // kills what still runs

    Result<> start(const std::filesystem::path &program, const ProbeJob &job);
    void listen();                     // takes in what is there to read, without waiting
    bool ended(Clock::time_point now); // also stops it when its time or output is used up
    ProbeOutcome outcome() const;

    size_t job() const { return job_; }
    int answer_fd() const { return answer_.get(); }
    int output_fd() const { return output_.get(); }
    Clock::time_point deadline() const { return deadline_; }

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
    void finish(bool kill_first);
    std::optional<ProbeRecord> answer() const;

    size_t job_, output_limit_;
    Clock::duration time_;
    Clock::time_point started_, deadline_, ended_at_ = {};
    Child child_;
    Fd answer_, output_;
    std::string answer_text_, output_text_;
    size_t output_size_ = 0;
    std::optional<int> status_;
    bool status_lost_ = false, timed_out_ = false, flooded_ = false, over_ = false;
};

} // namespace hbf::loader
