// SPDX-License-Identifier: Apache-2.0
// What hbf plugin check prints.
#pragma once

#include <string>
#include <vector>

#include "tools/plugin/candidate.hpp"
#include "tools/plugin/finding.hpp"

namespace hbf::tools::plugin {

struct CheckedPlugin {
    PluginFiles files;
    Findings findings;
};

// Verdict::fail if anything failed, else cannot_tell if anything could not be told, else pass.
Verdict verdict_of(const std::vector<CheckedPlugin> &plugins);

std::string check_text(const std::vector<CheckedPlugin> &plugins);
std::string check_json(const std::vector<CheckedPlugin> &plugins);

} // namespace hbf::tools::plugin
