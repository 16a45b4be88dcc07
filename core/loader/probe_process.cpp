// SPDX-License-Identifier: Apache-2.0
#include "core/loader/probe_process.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include <poll.h>

#include "core/loader/probe_child.hpp"

namespace hbf::loader {
namespace {

// Only how soon a cancellation and an end that closes no pipe are noticed depend on it.
constexpr std::chrono::milliseconds longest_nap{20};

void wait_for_news(const std::vector<ProbeChild> &running) {
    std::vector<pollfd> fds;
    const auto now = ProbeChild::Clock::now();
    auto nap = longest_nap;
    for (const ProbeChild &child : running) {
        if (child.answer_fd() >= 0) fds.push_back({child.answer_fd(), POLLIN, 0});
        if (child.output_fd() >= 0) fds.push_back({child.output_fd(), POLLIN, 0});
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(child.deadline() - now);
        nap = std::clamp(left, std::chrono::milliseconds(1), nap);
        // Both pipes closed: the end is a moment away.
        if (child.answer_fd() < 0) nap = std::chrono::milliseconds(1);
    }
    poll(fds.data(), fds.size(), static_cast<int>(nap.count()));
}

} // namespace

Result<std::vector<ProbeOutcome>> run_probes(const std::filesystem::path &program, const std::vector<ProbeJob> &jobs,
                                             const ProbeLimits &limits) {
    std::vector<ProbeOutcome> outcomes(jobs.size());
    std::vector<ProbeChild> running; // their destructor ends them on every way out
    running.reserve(limits.at_once);
    size_t next = 0;
    while (next < jobs.size() || !running.empty()) {
        if (limits.cancelled && limits.cancelled()) return fail(Code::cancelled, "the search for plugins was interrupted");
        for (; next < jobs.size() && running.size() < limits.at_once; ++next) {
            ProbeChild child(next, limits.output, limits.time);
            if (auto started = child.start(program, jobs[next]); !started) return tl::unexpected(started.error());
            running.push_back(std::move(child));
        }
        wait_for_news(running);
        for (ProbeChild &child : running) child.listen();
        const auto now = ProbeChild::Clock::now();
        std::erase_if(running, [&](ProbeChild &child) {
            if (!child.ended(now)) return false;
            outcomes[child.job()] = child.outcome();
            return true;
        });
    }
    return outcomes;
}

} // namespace hbf::loader
