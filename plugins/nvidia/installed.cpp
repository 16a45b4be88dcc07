// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/installed.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/nvidia/health/health.hpp"

namespace hbf::nvidia {
namespace {

namespace fs = std::filesystem;

std::string first_word(const fs::path &file) {
    std::ifstream in(file);
    std::string word;
    in >> word;
    return word;
}

fs::path below(const std::string &root, const char *path) {
    return fs::path(root.empty() ? "/" : root) / path;
}

// 3D and display controllers of NVIDIA's.
bool is_device(const fs::path &pci) {
    const std::string kind = first_word(pci / "class");
    return first_word(pci / "vendor") == "0x10de" && (kind.starts_with("0x0300") || kind.starts_with("0x0302"));
}

} // namespace

std::string module_release(const std::string &root) {
    return first_word(below(root, "sys/module/nvidia/version"));
}

std::string held_elsewhere(const std::string &root) {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto &pci : fs::directory_iterator(below(root, "sys/bus/pci/devices"), error)) {
        if (!is_device(pci.path())) continue;
        const std::string name = fs::read_symlink(pci.path() / "driver", error).filename();
        if (name == "nvidia") continue;
        found.push_back(name.empty()
                            ? pci.path().filename().string() + " belongs to no driver of the kernel"
                            : fmt::format("{} belongs to the kernel driver {}", pci.path().filename().string(), name));
    }
    std::sort(found.begin(), found.end());
    return fmt::format("{}", fmt::join(found, ", "));
}

std::string known_to_nvml() {
    std::string out;
    try {
        const nvml::Functions &nvml = nvml_functions();
        unsigned count = 0;
        if (!nvml.DeviceGetCount_v2 || !nvml.DeviceGetHandleByIndex_v2 || !nvml.DeviceGetUUID ||
            nvml.DeviceGetCount_v2(&count) != 0)
            return "";
        for (unsigned i = 0; i < std::min(count, 64u); ++i) {
            nvml::Device device = nullptr;
            char uuid[96] = {};
            if (nvml.DeviceGetHandleByIndex_v2(i, &device) != 0 || nvml.DeviceGetUUID(device, uuid, sizeof uuid - 1) != 0)
                continue;
            out += fmt::format("{}{}{}", out.empty() ? "" : ", ", uuid,
                               NvmlHealth(nvml, device).mig() ? " (MIG: it is used by its instances only)" : "");
        }
    } catch (const sdk::Failure &) { // no NVML: nothing is known
    }
    return out;
}

std::string file_of(const char *library) {
    void *const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!handle) return "";
    const link_map *map = nullptr;
    std::string out;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void *>(&map)) == 0 && map) {
        std::error_code error;
        const fs::path real = fs::canonical(map->l_name, error);
        out = error ? map->l_name : real.string();
    }
    ::dlclose(handle);
    return out;
}

} // namespace hbf::nvidia
