// SPDX-License-Identifier: Apache-2.0
// No plugin can be pinned.
#include "conformance/mutants/guards/replaced.hpp"
#include "hbf/config.hpp"

namespace hbf {

Result<Config> load_as_it_was(const ConfigSources &sources) HBF_AS_IT_WAS("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_otherwise(const ConfigSources &sources) HBF_IN_PLACE_OF("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_otherwise(const ConfigSources &sources) {
    ConfigSources others = sources;
    others.api.erase("plugins.pin");
    return load_as_it_was(others);
}

} // namespace hbf
