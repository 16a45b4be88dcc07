// SPDX-License-Identifier: Apache-2.0
// What an ordinary user does not get to see of the machine, said before the result that lacks it.
#pragma once

#include <filesystem>
#include <string>

#include "hbf/inventory.hpp"

namespace hbf::tools {

// For Command::without_root of commands that read the machine's settings.
inline constexpr const char *without_root_help =
    "settings of the machine that only root may read are left out, and a line on stderr names them. So are, on most "
    "machines, the ACS bits of PCI bridges, which decide whether transfers between two devices take a detour.";

// The line, "" if nothing is missing for lack of rights.
std::string without_root(const Inventory &inventory);

// Prints it to stderr where this process is not root.
void say_without_root(const std::filesystem::path &root = "/");

} // namespace hbf::tools
