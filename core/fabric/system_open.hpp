// SPDX-License-Identifier: Apache-2.0
// Opens what was selected.
#pragma once

#include <vector>

#include "hbf/system.hpp"

namespace hbf::fabric {

// The devices of every selected candidate, in rank order. A candidate none of whose devices opens becomes create_failed with
// the message, and the next go on; that the primary is another one then is said in the selection's notes. No device at all
// is an error that lists every reason: unsupported where there is nothing to open, unavailable where it does not open.
Result<std::vector<Device>> open_devices(Selection &selection, const Config &config, const std::filesystem::path &root,
                                         bool litmus);

} // namespace hbf::fabric
