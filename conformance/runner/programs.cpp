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
    const fs::path folder = library_folder(), here = folder / "hbf" / installed;
    if (fs::is_regular_file(here, error)) return here;
    fs::path top = folder;
    for (int up = 0; up < 5 && top.has_relative_path(); ++up, top = top.parent_path()) {
        if (!fs::is_regular_file(top / "build.ninja", error)) continue;
        if (fs::is_regular_file(top / built, error)) return top / built;
        return tl::unexpected(fmt::format("{} is not there; remedy: build it", (top / built).string()));
    }
    return tl::unexpected(fmt::format("{} {}", here.string(), remedy));
}

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
tl::expected<fs::path, std::string> mutant_file(const std::string &name) {
    return find("conformance/mutants/" + name, "conformance/mutants/" + name,
                "is in no installation; remedy: try this mutant with the hbf of a build folder");
}

} // namespace hbf::conformance
