// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/programs.hpp"

#include <fmt/format.h>
#include <link.h>

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;

tl::expected<fs::path, std::string> find(const std::string &installed, const std::string &built,
                                         const char *remedy = "is not there; remedy: install hbf again") {
    std::error_code error;
    const auto is_there = [&](const fs::path &path) {
        return fs::is_regular_file(path, error) || fs::is_directory(path, error);
    };
    const fs::path folder = library_folder(), here = folder / "hbf" / installed;
    if (is_there(here)) return here;
    fs::path top = folder;
    for (int up = 0; up < 5 && top.has_relative_path(); ++up, top = top.parent_path()) {
        if (!fs::is_regular_file(top / "build.ninja", error)) continue;
        if (is_there(top / built)) return top / built;
        return tl::unexpected(fmt::format("{} is not there; remedy: build it", (top / built).string()));
    }
    return tl::unexpected(fmt::format("{} {}", here.string(), remedy));
}

constexpr const char *vendor_remedy = "is not there; remedy: build with -Dvendor_plugins=... that name this vendor";

} // namespace

fs::path library_folder() {
    std::string found;
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *out) {
            const fs::path path = info->dlpi_name ? info->dlpi_name : "";
            if (!path.filename().string().starts_with("libhbf.so")) return 0;
            *static_cast<std::string *>(out) = path.string();
            return 1;
        },
        &found);
    std::error_code error;
    const fs::path real = fs::canonical(found.empty() ? "/proc/self/exe" : found, error);
    return error ? fs::path() : real.parent_path();
}

tl::expected<fs::path, std::string> case_program() {
    return find("hbf-case", "conformance/runner/hbf-case");
}
tl::expected<fs::path, std::string> inject_plugin() {
    return find("conformance/hbf_plugin_inject.so", "conformance/inject/hbf_plugin_inject.so");
}
tl::expected<fs::path, std::string> simulated_device() {
    return find("conformance/hbf_plugin_sim.so", "conformance/sim/hbf_plugin_sim.so");
}
tl::expected<fs::path, std::string> host_plugin() {
    return find("plugins/hbf_plugin_host.so", "plugins/host/hbf_plugin_host.so");
}
tl::expected<fs::path, std::string> vendor_plugin(const std::string &vendor) {
    const std::string file = "hbf_plugin_" + vendor + ".so";
    return find("plugins/" + file, fmt::format("plugins/{}/{}", vendor, file), vendor_remedy);
}
tl::expected<fs::path, std::string> emulated_runtime(const std::string &vendor) {
    return find("emulators/" + vendor, "conformance/emulators/" + vendor, vendor_remedy);
}
tl::expected<fs::path, std::string> level_zero_driver() {
    const auto folder = emulated_runtime("level_zero");
    if (!folder) return folder;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(*folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("libze_") && name.find(".so") != std::string::npos && entry.is_regular_file(error))
            return entry.path();
    }
    return tl::unexpected(fmt::format("{} holds no driver; remedy: {}", folder->string(), vendor_remedy));
}
tl::expected<fs::path, std::string> mutant_file(const std::string &name) {
    return find("conformance/mutants/" + name, "conformance/mutants/" + name,
                "is in no installation; remedy: try this mutant with the hbf of a build folder");
}

} // namespace hbf::conformance
