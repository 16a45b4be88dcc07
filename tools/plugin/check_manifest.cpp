// SPDX-License-Identifier: Apache-2.0
// The manifest, and who could change it or the library.
#include <algorithm>

#include <fmt/format.h>

#include "conformance/runner/programs.hpp"
#include "core/loader/bind.hpp"
#include "core/loader/trust.hpp"
#include "tools/plugin/checks.hpp"

namespace hbf::tools::plugin {
namespace {

using loader::Manifest;

#if defined(__x86_64__)
constexpr std::string_view machine = "x86_64";
#else
constexpr std::string_view machine = "aarch64";
#endif

void check_content(const Manifest &manifest, Findings &out) {
    if (manifest.warnings.empty()) return out.pass("manifest.valid", "HBF-SEL-1", "every key is known and has its type");
    for (const std::string &warning : manifest.warnings)
        out.warn("manifest.valid", "HBF-SEL-1", warning, "take it out, or correct its name");
}

void check_abi(const Manifest &manifest, Findings &out) {
    using namespace loader;
    const std::string evidence = fmt::format("it serves {} to {}, this core {} to {}", abi_text(manifest.abi_min),
                                             abi_text(manifest.abi_max), abi_text(host_abi_min), abi_text(host_abi_max));
    if (manifest.abi_min <= host_abi_max && manifest.abi_max >= host_abi_min)
        return out.pass("manifest.abi", "HBF-ABI-3", evidence);
    out.fail("manifest.abi", "HBF-ABI-3", evidence,
             manifest.abi_min > host_abi_max ? "a newer HBF, or a plugin that does without what is newer"
                                             : "build it with the headers of a newer HBF");
}

void check_arch(const Manifest &manifest, Findings &out) {
    const auto &arch = manifest.arch;
    if (arch.empty()) return out.pass("manifest.arch", "HBF-SEL-1", "for any machine");
    const std::string evidence = fmt::format("for {}; this machine is {}", fmt::join(arch, ", "), machine);
    if (std::find(arch.begin(), arch.end(), machine) != arch.end()) return out.pass("manifest.arch", "HBF-SEL-1", evidence);
    out.fail("manifest.arch", "HBF-SEL-1", evidence,
             fmt::format("add \"{}\" to arch if the library is built for it", machine));
}

namespace fs = std::filesystem;

// The installation's own folder is held to what the installation is exposed to, as a host does it.
std::optional<loader::Yardstick> yardstick_for(const fs::path &library) {
    std::error_code error;
    const auto own = conformance::host_plugin();
    if (!own || library.empty() || !fs::equivalent(library.parent_path(), own->parent_path(), error)) return std::nullopt;
    return loader::Yardstick::of({fs::canonical("/proc/self/exe", error), conformance::library_folder() / "libhbf.so.0"});
}

std::optional<std::string> weakness(const fs::path &file, const loader::Yardstick *yardstick) {
    const auto walk = loader::walk_to(file);
    if (!walk) return walk.error().message;
    return loader::first_objection(*walk, yardstick);
}

} // namespace

void check_manifest(const PluginFiles &files, Findings &out) {
    if (files.manifest.empty())
        return out.fail(
            "manifest.valid", "HBF-SEL-1",
            fmt::format("no manifest beside {} names it: hosts list it and never run it", files.plugin_file.string()),
            fmt::format("put NAME.plugin.toml there, with library = \"{}\"", files.plugin_file.filename().string()));
    if (!files.content)
        return out.fail("manifest.valid", "HBF-SEL-1", files.problem, "docs/plugin-manifest.md has every key");
    check_content(*files.content, out);
    check_abi(*files.content, out);
    check_arch(*files.content, out);
}

bool check_trust(const PluginFiles &files, bool allow_untrusted, Findings &out) {
    const auto yardstick = yardstick_for(files.plugin_file);
    for (const auto &file : {files.manifest, files.plugin_file}) {
        const auto weak = file.empty() ? std::nullopt : weakness(file, yardstick ? &*yardstick : nullptr);
        if (!weak) continue;
        const size_t at = weak->find("; remedy: ");
        const std::string evidence = weak->substr(0, at);
        const std::string remedy = at == std::string::npos ? "move it where only root or you can write"
                                                           : weak->substr(at + std::string_view("; remedy: ").size());
        if (allow_untrusted) {
            out.warn("files.trust", "HBF-SEC-1", evidence + " (plugins.allow_untrusted is set)", remedy);
            return true;
        }
        out.fail("files.trust", "HBF-SEC-1", evidence, remedy);
        return false;
    }
    out.pass("files.trust", "HBF-SEC-1", "nobody but root and this user can change its files or the folders above them");
    return true;
}

} // namespace hbf::tools::plugin
