// SPDX-License-Identifier: Apache-2.0
// The user's settings, but for which plugins are searched, allowed and pinned: one is asked about, and no other matters.
#pragma once

#include <chrono>

#include "hbf/config.hpp"
#include "tools/plugin/candidate.hpp"

namespace hbf::tools::plugin {

Result<Config> settings_for(const PluginFiles &files);
std::chrono::milliseconds probe_limit(const Config &config); // plugins.probe_timeout_s

} // namespace hbf::tools::plugin
