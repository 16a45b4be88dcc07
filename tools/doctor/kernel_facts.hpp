// SPDX-License-Identifier: Apache-2.0
// What several checks ask of the kernel: its version as its makers count, its parameters, its log, this process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/look.hpp"

namespace hbf::tools::doctor {

// "6.1.66": distributions count anew in the release's name and give the origin elsewhere. A doubt if no version is found.
std::optional<std::string> kernel_version(Look &look);

// The words of the kernel's command line; a doubt if it is none.
std::optional<std::vector<std::string>> kernel_parameters(Look &look);

// A line "NAME: 1 2 3" of a text such as /proc/self/status or /proc/meminfo: what follows the name.
std::optional<std::string> line_after(Look &look, const std::string &path, std::string_view name);

// Effective user 0, or the capability with that number; a doubt if it cannot be told.
std::optional<bool> is_root(Look &look);
std::optional<bool> has_capability(Look &look, unsigned number);

// Variables of this process; of another machine those of the process in its proc/self.
std::optional<std::map<std::string, std::string>> process_environment(Look &look);

// Is this a virtual machine? A doubt if neither the processor nor the firmware says anything.
std::optional<bool> is_virtual(Look &look);

struct KernelLog {
    std::vector<std::string> lines;
    bool whole = false; // it reaches back to the start of the kernel
};
// A doubt if it cannot be read; on the machine this runs on, only root may.
std::optional<KernelLog> kernel_log(Look &look);

} // namespace hbf::tools::doctor
