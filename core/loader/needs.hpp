// SPDX-License-Identifier: Apache-2.0
// Does this machine have what a manifest asks for? Answered from the inventory and /dev, before any plugin code runs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/loader/manifest.hpp"
#include "core/loader/reasons.hpp"
#include "hbf/inventory.hpp"

namespace hbf::loader {

// no_device: no PCI device matches. driver_absent: a device node is missing. permission_denied: it may not be opened.
std::optional<Refusal> unmet_need(const Manifest &manifest, const Inventory &inventory);

// Paths below `root` that match a pattern with * and ?, sorted, without the root.
std::vector<std::string> expand(const std::filesystem::path &root, const std::string &pattern);

} // namespace hbf::loader
