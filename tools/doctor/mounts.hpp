// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/look.hpp"

namespace hbf::tools::doctor {

struct Mount {
    std::string at, type, source; // "/home", "ext4", "/dev/nvme0n1p2"
};

// What this process has mounted, in order; a doubt if it cannot be told.
std::optional<std::vector<Mount>> read_mounts(Look &look);

// The mount that an absolute path lies on; nullptr if none.
const Mount *mount_of(const std::vector<Mount> &mounts, std::string_view path);

} // namespace hbf::tools::doctor
