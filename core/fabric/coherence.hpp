// SPDX-License-Identifier: Apache-2.0
// Checks at open what a device declared about coherence: a wrong mode is the failure that nobody notices.
#pragma once

#include <string>
#include <vector>

#include "hbf/device.hpp"
#include "hbf/status.hpp"

namespace hbf::fabric {

class DeviceCore;

// What a kept result is valid for. With an empty part nothing is kept beyond this process.
struct LitmusKey {
    std::string plugin_sha256, driver, boot_id;
};

// One report a domain. Code::data_loss if what was seen contradicts what is declared.
Result<std::vector<LitmusReport>> verify_coherence(DeviceCore &device, const LitmusKey &key);

} // namespace hbf::fabric
