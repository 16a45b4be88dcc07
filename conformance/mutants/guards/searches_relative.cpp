// SPDX-License-Identifier: Apache-2.0
// Search folders may be relative: they count from the working directory.
#include <filesystem>
#include <sstream>

#include "conformance/mutants/guards/replaced.hpp"
#include "hbf/config.hpp"

namespace hbf {

Result<Config> load_as_it_was(const ConfigSources &sources) HBF_AS_IT_WAS("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_from_here(const ConfigSources &sources) HBF_IN_PLACE_OF("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_from_here(const ConfigSources &sources) {
    ConfigSources unguarded = sources;
    for (const char *const key : {"plugins.path", "plugins.path_add"}) {
        const auto found = unguarded.api.find(key);
        if (found == unguarded.api.end()) continue;
        std::istringstream folders(found->second);
        std::string absolute;
        for (std::string folder; std::getline(folders, folder, ',');)
            absolute += (absolute.empty() ? "" : ",") + std::filesystem::absolute(folder).lexically_normal().string();
        found->second = absolute;
    }
    return load_as_it_was(unguarded);
}

} // namespace hbf
