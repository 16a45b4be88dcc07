// SPDX-License-Identifier: Apache-2.0
#include "core/loader/probe_process.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "core/loader/probe_child.hpp"

namespace hbf::loader {
namespace {

void wait_for_news(const std::vector<ProbeChild> &running) {
    std::vector<pollfd> fds;
    const auto now = ChildProcess::Clock::now();
    auto nap = std::chrono::milliseconds::max();
    for (const ProbeChild &child : running) {
        child.process().add_to(fds);
        nap = std::min(nap, child.process().nap(now));
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
            ProbeChild child(next, limits);
            if (auto started = child.start(program, jobs[next]); !started) return tl::unexpected(started.error());
            running.push_back(std::move(child));
        }
        wait_for_news(running);
        for (ProbeChild &child : running) child.process().listen();
        const auto now = ChildProcess::Clock::now();
        std::erase_if(running, [&](ProbeChild &child) {
            if (!child.process().ended(now)) return false;
            outcomes[child.job()] = child.outcome();
            return true;
        });
    }
    return outcomes;
}

} // namespace hbf::loader
