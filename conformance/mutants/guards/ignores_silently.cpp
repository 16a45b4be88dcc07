// SPDX-License-Identifier: Apache-2.0
// What the environment of a privileged process asks for is ignored without a word.
#include <cstdlib>

#include "conformance/mutants/guards/replaced.hpp"
#include "hbf/config.hpp"

namespace hbf {

Result<Config> load_as_it_was(const ConfigSources &sources) HBF_AS_IT_WAS("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_otherwise(const ConfigSources &sources) HBF_IN_PLACE_OF("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_otherwise(const ConfigSources &sources) {
    ConfigSources silent = sources;
    if (sources.privileged)
        for (const char *name : {"HBF_PLUGIN_PATH", "HBF_PLUGINS", "HBF_ALLOW_UNTRUSTED"}) unsetenv(name);
    silent.privileged = false; // there is nothing left to be said
    return load_as_it_was(silent);
}

} // namespace hbf
