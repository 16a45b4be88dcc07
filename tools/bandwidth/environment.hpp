// SPDX-License-Identifier: Apache-2.0
// What else a figure depends on, beside the inventory: read anew, never guessed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/output/json.hpp"
#include "hbf/inventory.hpp"

namespace hbf::tools::bandwidth {

struct Environment {
    std::string git; // the commit this command was built from, "" outside a git checkout
    std::string compiler;
    std::optional<std::string> microcode;      // of the first CPU
    std::optional<std::string> governor;       // of frequency scaling: "performance", or "a, b" where the CPUs differ
    std::optional<std::string> turbo;          // "on", "off"
    std::optional<double> mhz_least, mhz_most; // of the CPUs, as of now
};
Environment read_environment(const std::filesystem::path &root = "/");

Json environment_json(const Inventory &inventory, const Environment &environment);

} // namespace hbf::tools::bandwidth
