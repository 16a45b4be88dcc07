// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/process_kept.hpp"

#include <cstdlib>

extern char **environ;

namespace hbf::opencl {
namespace {

std::map<std::string, std::string> environment_now() {
    std::map<std::string, std::string> found;
    for (char **one = environ; one && *one; ++one) {
        const std::string text = *one;
        if (const size_t equals = text.find('='); equals != std::string::npos)
            found.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return found;
}

bool same(const struct sigaction &a, const struct sigaction &b) {
    return a.sa_handler == b.sa_handler && a.sa_flags == b.sa_flags; // of a union with sa_sigaction, the same bytes
}

} // namespace

ProcessKept::ProcessKept() : environment_(environment_now()) {
    for (int number = 1; number < NSIG; ++number) (void)::sigaction(number, nullptr, &actions_[static_cast<size_t>(number)]);
}

ProcessKept::~ProcessKept() {
    for (int number = 1; number < NSIG; ++number) {
        const struct sigaction &before = actions_[static_cast<size_t>(number)];
        struct sigaction now{};
        if (::sigaction(number, nullptr, &now) == 0 && !same(before, now)) (void)::sigaction(number, &before, nullptr);
    }
    try {
        for (const auto &[name, value] : environment_now()) {
            const auto was = environment_.find(name);
            if (was == environment_.end())
                ::unsetenv(name.c_str());
            else if (was->second != value)
                ::setenv(name.c_str(), was->second.c_str(), 1);
        }
    } catch (...) { // no memory to look: it stays as the driver left it
    }
}

} // namespace hbf::opencl
