// SPDX-License-Identifier: Apache-2.0
// Who is allowed first does not come first.
#include <algorithm>
#include <sstream>
#include <vector>

#include "conformance/mutants/guards/replaced.hpp"
#include "hbf/config.hpp"

namespace hbf {

Result<Config> load_as_it_was(const ConfigSources &sources) HBF_AS_IT_WAS("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_otherwise(const ConfigSources &sources) HBF_IN_PLACE_OF("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_otherwise(const ConfigSources &sources) {
    ConfigSources others = sources;
    const auto allowed = others.api.find("plugins.allow");
    if (allowed == others.api.end()) return load_as_it_was(others);
    std::istringstream list(allowed->second);
    std::vector<std::string> names;
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    std::sort(names.begin(), names.end());
    allowed->second.clear();
    for (const std::string &name : names) allowed->second += (allowed->second.empty() ? "" : ",") + name;
    return load_as_it_was(others);
}

} // namespace hbf
