// SPDX-License-Identifier: Apache-2.0
// The environment is the host's. Drivers set variables while they start (PoCL: HWLOC_PLUGINS_PATH), for libraries of their
// own that read them at once; the host, and what it starts, would inherit them. What was set while this lives is taken back
// at its end. Like any change of an environment it does not go with another thread that reads or changes it; the driver's
// change did not either.
#pragma once

#include <cstdlib>
#include <map>
#include <string>

extern char **environ;

namespace hbf::opencl {

class EnvironmentKept {
public:
    EnvironmentKept() : before_(now()) {}
    ~EnvironmentKept() {
        try {
            for (const auto &[name, value] : now()) {
                const auto was = before_.find(name);
                if (was == before_.end())
                    ::unsetenv(name.c_str());
                else if (was->second != value)
                    ::setenv(name.c_str(), was->second.c_str(), 1);
            }
        } catch (...) { // no memory to look: it stays as the driver left it
        }
    }
    EnvironmentKept(const EnvironmentKept &) = delete;
    EnvironmentKept &operator=(const EnvironmentKept &) = delete;

private:
    static std::map<std::string, std::string> now() {
        std::map<std::string, std::string> found;
        for (char **one = environ; one && *one; ++one) {
            const std::string text = *one;
            if (const size_t equals = text.find('='); equals != std::string::npos)
                found.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
        return found;
    }

    const std::map<std::string, std::string> before_;
};

} // namespace hbf::opencl
