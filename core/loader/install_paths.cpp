// SPDX-License-Identifier: Apache-2.0
#include "core/loader/install_paths.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include <dlfcn.h>

namespace hbf::loader {
namespace {

namespace fs = std::filesystem;

fs::path real_path(const fs::path &path) {
    std::error_code error;
    fs::path real = fs::canonical(path, error);
    return error ? fs::path() : real;
}

bool is_file(const fs::path &path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}

InstallPaths find() {
    static const char here = 0;
    InstallPaths paths;
    paths.program = real_path("/proc/self/exe");
    Dl_info info = {};
    paths.self =
        dladdr(&here, &info) != 0 && info.dli_fname && info.dli_fname[0] == '/' ? real_path(info.dli_fname) : paths.program;
    if (paths.self.empty()) return paths;

    const fs::path folder = paths.self.parent_path();
    if (const fs::path probe = folder / "hbf" / "hbf-probe"; is_file(probe)) {
        paths.probe = probe;
        paths.plugins = real_path(folder / "hbf" / "plugins");
        return paths;
    }
    // A program of the installation's own that has this code in it (hbf-case) lies beside hbf-probe.
    if (const fs::path probe = folder / "hbf-probe"; folder.filename() == "hbf" && is_file(probe)) {
        paths.probe = probe;
        paths.plugins = real_path(folder / "plugins");
        return paths;
    }
    // Build tree: from core/, tools/, plugins/NAME/ ...
    fs::path top = folder;
    for (int up = 0; up < 5 && top.has_relative_path(); ++up, top = top.parent_path()) {
        if (const fs::path probe = top / "core" / "hbf-probe"; is_file(probe) && is_file(top / "build.ninja")) {
            paths.probe = probe;
            paths.plugins = real_path(top / "plugins");
            paths.sub_folders = true;
            break;
        }
    }
    return paths;
}

} // namespace

const InstallPaths &install_paths() {
    static const InstallPaths paths = find();
    return paths;
}

bool is_own_plugin(const fs::path &file) {
    const fs::path &folder = install_paths().plugins;
    if (folder.empty()) return false;
    return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

} // namespace hbf::loader
