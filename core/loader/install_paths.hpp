// SPDX-License-Identifier: Apache-2.0
// Where the running installation keeps its plugins and its probe program: found from where libhbf itself was loaded.
#pragma once

#include <filesystem>
#include <vector>

namespace hbf::loader {

struct InstallPaths {
    std::filesystem::path self;    // the file this code is in: libhbf.so, or a program that holds it
    std::filesystem::path program; // the running executable
    std::filesystem::path probe;   // hbf-probe, empty if there is none
    std::filesystem::path plugins; // the installation's own plugin folder, empty if unknown
    bool sub_folders = false;      // build tree: each plugin in a folder of its own
};

// Installed: LIBDIR/hbf/hbf-probe and LIBDIR/hbf/plugins beside LIBDIR/libhbf.so. Build tree: core/hbf-probe and
// plugins/*/ beside core/libhbf.so.
const InstallPaths &install_paths();

// Is `file` (without links) inside the installation's own plugin folder?
bool is_own_plugin(const std::filesystem::path &file);

} // namespace hbf::loader
