// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/visible.hpp"

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "conformance/suite/whose_code.hpp"

extern char **environ;

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;
using Named = std::map<std::string, std::string>;

Named threads() {
    Named found;
    for (const auto &entry : fs::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(entry.path() / "comm"), name); // ends in between: no name
        found[entry.path().filename().string()] = name;
    }
    return found;
}

Named descriptors_now() {
    Named found;
    const std::string self = fmt::format("/proc/{}/fd", getpid());
    for (const auto &entry : fs::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = fs::read_symlink(entry.path(), gone).string();
        if (gone || target == self) continue; // closed since it was listed; the descriptor of this very walk
        found[entry.path().filename().string()] = target;
    }
    return found;
}

// A file that a thread has open for a moment, to read a setting, is nobody's trace: what stays is seen twice in a row.
Named descriptors() {
    Named found = descriptors_now();
    for (int i = 0; i < 100; ++i) {
        Named again = descriptors_now();
        if (again == found) break;
        found = std::move(again);
    }
    return found;
}

Named environment() {
    Named found;
    for (char **variable = environ; variable && *variable; ++variable) {
        const std::string text = *variable;
        const size_t equals = text.find('=');
        found[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
    }
    return found;
}

void look_at_signals(Named &found) {
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action = {};
        if (sigaction(number, nullptr, &action) != 0) continue;
        constexpr int restorer =
            0x04000000; // SA_RESTORER: the C library's own, there since the first change, whatever it was
        action.sa_flags &= ~restorer;
        const char *name = sigabbrev_np(number);
        found[fmt::format("the action of signal {}", name ? name : std::to_string(number))] =
            fmt::format("{:#x} {:#x}", reinterpret_cast<uintptr_t>(action.sa_handler), action.sa_flags);
    }
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    std::string mask;
    for (int number = 1; number < NSIG; ++number) mask += sigismember(&blocked, number) == 1 ? '1' : '0';
    found["the signal mask"] = mask;
}

void look_at_limits(Named &found) {
    static constexpr std::pair<__rlimit_resource_t, const char *> limits[] = {
        {RLIMIT_NOFILE, "the limit of open files"},     {RLIMIT_CORE, "the limit of core files"},
        {RLIMIT_MEMLOCK, "the limit of locked memory"}, {RLIMIT_STACK, "the limit of the stack"},
        {RLIMIT_AS, "the limit of address space"},
    };
    for (const auto &[resource, name] : limits) {
        struct rlimit limit = {};
        if (getrlimit(resource, &limit) == 0) found[name] = fmt::format("{} of {}", limit.rlim_cur, limit.rlim_max);
    }
}

} // namespace

Visible look() {
    Visible seen{threads(), descriptors(), environment(), {}};
    Named &process = seen.process;
    std::error_code gone;
    process["the working directory"] = fs::current_path(gone).string();
    process["the locale"] = std::setlocale(LC_ALL, nullptr);
    process["the rounding mode"] = std::to_string(std::fegetround());
#if defined(__x86_64__)
    process["the floating-point control word"] = fmt::format("{:#x}", _mm_getcsr() & ~0x3fu); // without the sticky flags
#endif
    const mode_t mask = umask(0);
    umask(mask);
    process["the file mode mask"] = fmt::format("{:o}", mask);
    struct itimerval timer = {};
    getitimer(ITIMER_REAL, &timer);
    process["the interval timer"] = std::to_string(timer.it_interval.tv_sec * 1000000 + timer.it_interval.tv_usec);
    look_at_signals(process);
    look_at_limits(process);
    return seen;
}

namespace {

std::string change_of(const Named &before, const Named &after, std::string_view what) {
    for (const auto &[name, value] : after) {
        const auto old = before.find(name);
        if (old == before.end()) return fmt::format("{}{} ({}) is new", what, name, value);
        if (old->second != value) return fmt::format("{}{} was \"{}\" and is \"{}\"", what, name, old->second, value);
    }
    for (const auto &[name, value] : before)
        if (!after.contains(name)) return fmt::format("{}{} ({}) is gone", what, name, value);
    return {};
}

} // namespace

std::string first_change(const Visible &before, const Visible &after) {
    for (const std::string &change : {change_of(before.threads, after.threads, "thread "),
                                      change_of(before.descriptors, after.descriptors, "descriptor "),
                                      change_of(before.environment, after.environment, "environment variable "),
                                      change_of(before.process, after.process, "")})
        if (!change.empty()) return change;
    return {};
}

Visible look_after_joins(const Visible &before, double limit_s) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
    Visible seen = look();
    const auto settled = [&] {
        return change_of(before.threads, seen.threads, "").empty() &&
               change_of(before.descriptors, seen.descriptors, "").empty();
    };
    while (!settled() && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
        seen.threads = threads();
        seen.descriptors = descriptors();
    }
    return seen;
}

namespace {

void add(Named &to, const Named &from) {
    to.insert(from.begin(), from.end());
}

bool has_new(const Named &before, const Named &after) {
    return std::any_of(after.begin(), after.end(), [&](const auto &one) { return !before.contains(one.first); });
}

void drop_gone(Named &from, const Named &now) {
    std::erase_if(from, [&](const auto &one) { return !now.contains(one.first); });
}

} // namespace

std::string left_behind(const Visible &before, const Visible &first, double limit_s) {
    if (drivers().empty()) return first_change(before, look_after_joins(before, limit_s));
    Visible expected = before;
    add(expected.threads, first.threads);
    add(expected.descriptors, first.descriptors);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
    Visible seen = look();
    while ((has_new(expected.threads, seen.threads) || has_new(expected.descriptors, seen.descriptors)) &&
           std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
        seen = look();
    }
    // Of the first life's, some were joined and are gone by now.
    drop_gone(expected.threads, seen.threads);
    drop_gone(expected.descriptors, seen.descriptors);
    return first_change(expected, seen);
}

} // namespace hbf::conformance
