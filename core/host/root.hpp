// SPDX-License-Identifier: Apache-2.0
// Which machine is looked at: this one, or the emulated one that the process was started under (`hbf emulate`).
#pragma once

#include <filesystem>
#include <string>

namespace hbf::host {

// A file of an emulated machine's root; its first line is the machine's name.
constexpr const char *emulation_marker = "hbf-emulated";

// `root` itself, but for "/" under `hbf emulate` the folder that HBF_EMULATE_ROOT names.
std::filesystem::path machine_root(const std::filesystem::path &root);

// The name of the emulated machine below `root`, or that vendors' runtimes were told to be (HBF_EMULATE_PROFILE); "": none.
// Whatever is found there is emulated, whatever a plugin says.
std::string emulated_machine(const std::filesystem::path &root);

} // namespace hbf::host
