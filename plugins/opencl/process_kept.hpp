// SPDX-License-Identifier: Apache-2.0
// The process is the host's. Drivers set environment variables and handlers of signals while they start or compile (PoCL:
// HWLOC_PLUGINS_PATH, and through LLVM handlers of SIGINT, SIGTERM, SIGSEGV and others); the host, and what it starts, would
// have them from then on. What was set while this lives is taken back at its end. Like any such change it does not go with
// another thread that changes the same at the same time; the driver's change did not either.
#pragma once

#include <array>
#include <csignal>
#include <map>
#include <string>

namespace hbf::opencl {

class ProcessKept {
public:
    ProcessKept();
    ~ProcessKept();
    ProcessKept(const ProcessKept &) = delete;
    ProcessKept &operator=(const ProcessKept &) = delete;

private:
    const std::map<std::string, std::string> environment_;
    std::array<struct sigaction, NSIG> actions_{};
};

} // namespace hbf::opencl
