// SPDX-License-Identifier: Apache-2.0
#include "core/common/orphans.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/common/list_folder.hpp"

namespace hbf {
namespace {

constexpr std::chrono::milliseconds most{5000};
constexpr size_t most_processes = size_t{1} << 22; // as the kernel allows

// Collects what has ended. True: some still run.
bool collect() {
    for (;;) {
        const pid_t got = waitpid(-1, nullptr, WNOHANG);
        if (got == 0) return true;
        if (got < 0 && errno != EINTR) return false;
    }
}

// Running children of this process. /proc/PID/stat: "PID (NAME) STATE PARENT ...", the name may hold anything.
std::vector<Orphan> children() {
    std::vector<Orphan> out;
    for (const std::string &number : list_folder("/proc", most_processes).value_or(std::vector<std::string>())) {
        pid_t id = 0;
        if (std::from_chars(number.data(), number.data() + number.size(), id).ec != std::errc{}) continue;
        std::ifstream file("/proc/" + number + "/stat");
        std::string text;
        std::getline(file, text, '\0');
        const size_t open = text.find('('), close = text.rfind(')');
        if (open == std::string::npos || close == std::string::npos || close + 4 > text.size()) continue;
        if (text[close + 2] == 'Z' || text[close + 2] == 'X') continue;
        if (std::strtol(text.c_str() + close + 4, nullptr, 10) == getpid())
            out.push_back({id, text.substr(open + 1, close - open - 1)});
    }
    return out;
}

} // namespace

AdoptOrphans::AdoptOrphans() {
    prctl(PR_GET_CHILD_SUBREAPER, &before_);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

AdoptOrphans::~AdoptOrphans() {
    prctl(PR_SET_CHILD_SUBREAPER, before_);
}

std::vector<Orphan> end_orphans(std::chrono::milliseconds grace) {
    std::vector<Orphan> out;
    const auto began = ChildProcess::Clock::now();
    while (collect()) {
        const auto waited = ChildProcess::Clock::now() - began;
        if (waited > most) break; // in the kernel, and not to be killed
        if (waited >= grace) {
            // Each is a child that nobody waited for, so its number is still its own.
            for (Orphan &orphan : children()) {
                kill(orphan.id, SIGKILL);
                const auto same = [&](const Orphan &known) { return known.id == orphan.id; };
                if (std::none_of(out.begin(), out.end(), same)) out.push_back(std::move(orphan));
            }
        }
        usleep(1000);
    }
    return out;
}

} // namespace hbf
