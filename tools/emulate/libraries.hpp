// SPDX-License-Identifier: Apache-2.0
// Where this installation, or the build folder, keeps emulated runtimes and profiles of machines.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "conformance/sim/model/profile.hpp"

namespace hbf::tools::emulate {

std::filesystem::path emulators_folder(); // "" if there is none
std::filesystem::path profiles_folder();  // "" if there is none
std::vector<std::string> profile_names(); // sorted

// The vendors of a machine's devices that a runtime is emulated for.
std::set<std::string> vendors_of(const model::Profile &profile);

// What a process has to be told so that the vendors' runtimes are the emulated ones: "NAME=value". `library_path` is what
// LD_LIBRARY_PATH is now.
// `lacking`: runtimes that lack a function.
Result<std::vector<std::string>> runtime_variables(const std::set<std::string> &vendors, const std::string &library_path,
                                                   bool lacking);

} // namespace hbf::tools::emulate
