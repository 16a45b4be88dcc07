// SPDX-License-Identifier: Apache-2.0
#include "core/host/root.hpp"

#include "core/common/environment.hpp"
#include "core/common/printable.hpp"
#include "core/common/read_file.hpp"

namespace hbf::host {

std::filesystem::path machine_root(const std::filesystem::path &root) {
    if (!root.empty() && root != "/") return root;
    const auto injected = environment("HBF_EMULATE_ROOT");
    return injected && !injected->empty() ? std::filesystem::path(*injected) : root;
}

std::string emulated_machine(const std::filesystem::path &root) {
    constexpr size_t longest = 4096, shown = 64;
    const std::filesystem::path marker = machine_root(root) / emulation_marker;
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(marker, error))) {
        const auto text = read_file(marker.string(), longest);
        const std::string line = text ? printable(text->substr(0, text->find('\n')), shown) : "";
        return line.empty() ? "unnamed" : line; // unreadable or empty: emulated all the same
    }
    const auto profile = environment("HBF_EMULATE_PROFILE");
    return profile && !profile->empty() ? printable(*profile, shown) : "";
}

} // namespace hbf::host
