// SPDX-License-Identifier: Apache-2.0
// Everything that a probe's answer depends on, as text: a cached answer counts only while all of it is unchanged.
#pragma once

#include <string>
#include <vector>

#include "core/loader/manifest.hpp"
#include "core/loader/probe_process.hpp"
#include "hbf/inventory.hpp"

namespace hbf::loader {

// What is the same for every plugin of a run: libhbf, kernel boot, PCI devices, memory, limits, user.
std::string machine_key(const Inventory &inventory);

// What is this plugin's: file contents, options, environment, the driver files and device nodes it names.
std::string plugin_key(const Manifest &manifest, const ProbeJob &job, const std::string &sha256,
                       const std::filesystem::path &root);

// What the probe of this plugin is given of this process's environment, sorted: what programs and their libraries commonly
// need, and what its manifest names. Nothing of it in a privileged process.
std::vector<std::string> probe_environment(const Manifest &manifest);

} // namespace hbf::loader
