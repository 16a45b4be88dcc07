// SPDX-License-Identifier: Apache-2.0
// A privileged process takes its settings from its caller, like any other.
#include "conformance/mutants/guards/replaced.hpp"
#include "hbf/config.hpp"

namespace hbf {

Result<Config> load_as_it_was(const ConfigSources &sources) HBF_AS_IT_WAS("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_for_anyone(const ConfigSources &sources) HBF_IN_PLACE_OF("_ZN3hbf6Config4loadERKNS_13ConfigSourcesE");
Result<Config> load_for_anyone(const ConfigSources &sources) {
    ConfigSources unguarded = sources;
    unguarded.privileged = false;
    return load_as_it_was(unguarded);
}

} // namespace hbf
