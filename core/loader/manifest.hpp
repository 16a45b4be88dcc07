// SPDX-License-Identifier: Apache-2.0
// NAME.plugin.toml: what a plugin says of itself before any of its code runs. docs/plugin-manifest.md is its reference.
// A manifest is untrusted input: its size, depth, line and string lengths are bounded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hbf/inventory.hpp"
#include "hbf/status.hpp"

namespace hbf::loader {

struct Manifest {
    std::string name, vendor, version, plugin_file; // plugin_file: key "library", relative to the manifest's folder
    uint32_t abi_min = 0, abi_max = 0;              // HBF_ABI_MAKE values
    std::vector<std::string> arch;                  // empty: any
    bool emulation = false;
    int priority = 0;

    // [needs]
    std::vector<std::string> pci;          // one of them must be there: "1b36:*", "1b36:0010", "1b36:*:03" (class 03...)
    std::vector<std::string> nodes;        // each must be there and openable: "/dev/acmectl", "/dev/dri/renderD*"
    std::vector<std::string> driver_files; // whose change makes an earlier probe worthless: path, glob or library name
    std::vector<std::string> environment;  // variables the driver reads: passed to the probe, "ACME_*"

    std::vector<std::string> warnings; // unknown keys, each with its place
};

inline constexpr size_t largest_manifest = 64 * 1024;

// The error begins with FILE:LINE:COLUMN where there is one.
Result<Manifest> parse_manifest(std::string_view text, const std::string &file);
Result<Manifest> read_manifest(const std::filesystem::path &file);

bool is_plugin_name(std::string_view name) noexcept; // [a-z][a-z0-9_-]{0,63}

// Does a device match one of the patterns?
bool pci_pattern_is_valid(std::string_view pattern) noexcept;
bool pci_matches(std::string_view pattern, const PciDevice &device) noexcept;

} // namespace hbf::loader
