// SPDX-License-Identifier: Apache-2.0
// The only place that reads environment variables. In a privileged process it answers as if none were set: whoever
// starts a set-uid program must not be able to steer what it loads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hbf {

// True under set-uid, set-gid or file capabilities (AT_SECURE, or real and effective ids that differ).
bool process_is_privileged() noexcept;

// The variable's value, also when empty; nothing if unset or if the process is privileged.
std::optional<std::string> environment(const char *name);

// Every variable whose name starts with `prefix`, sorted by name; empty if the process is privileged.
std::vector<std::pair<std::string, std::string>> environment_with_prefix(std::string_view prefix);

// For a child process: all of this process's variables as "NAME=value", but for the names in `changes`, which stand as they
// are given there.
std::vector<std::string> environment_changed(const std::vector<std::string> &changes);

} // namespace hbf
