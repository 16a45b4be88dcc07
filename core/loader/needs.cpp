// SPDX-License-Identifier: Apache-2.0
#include "core/loader/needs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

namespace hbf::loader {
namespace {

// The injected root is taken literally: its own * or [ would otherwise be patterns.
std::string escaped(const std::string &text) {
    std::string out;
    for (const char c : text) {
        if (c == '*' || c == '?' || c == '[' || c == '\\') out.push_back('\\');
        out.push_back(c);
    }
    return out;
}

std::string root_prefix(const std::filesystem::path &root) {
    std::string prefix = root.string();
    while (prefix.ends_with('/')) prefix.pop_back();
    return prefix;
}

std::optional<Refusal> missing_node(const std::string &pattern, const std::filesystem::path &root) {
    const std::vector<std::string> nodes = expand(root, pattern);
    if (nodes.empty()) {
        return Refusal{Reason::driver_absent,
                       fmt::format("{} does not exist; remedy: install or load the driver that makes it", pattern)};
    }
    // With several nodes of a kind (one a device), one that can be opened is enough.
    std::optional<Refusal> denied;
    for (const std::string &node : nodes) {
        if (faccessat(AT_FDCWD, (root_prefix(root) + node).c_str(), R_OK | W_OK, AT_EACCESS) == 0) return std::nullopt;
        if (!denied) {
            denied = Refusal{Reason::permission_denied,
                             fmt::format("{} may not be opened for reading and writing ({}); remedy: join the group "
                                         "that owns it (ls -l {})",
                                         node, std::strerror(errno), node)};
        }
    }
    return denied;
}

} // namespace

std::vector<std::string> expand(const std::filesystem::path &root, const std::string &pattern) {
    const std::string prefix = root_prefix(root);
    glob_t found = {};
    std::vector<std::string> paths;
    if (glob((escaped(prefix) + pattern).c_str(), 0, nullptr, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i] + prefix.size());
    }
    globfree(&found);
    return paths;
}

std::optional<Refusal> unmet_need(const Manifest &manifest, const Inventory &inventory) {
    if (!manifest.pci.empty()) {
        const bool found = std::any_of(inventory.pci.begin(), inventory.pci.end(), [&](const PciDevice &device) {
            return std::any_of(manifest.pci.begin(), manifest.pci.end(),
                               [&](const std::string &p) { return pci_matches(p, device); });
        });
        if (!found) {
            return Refusal{Reason::no_device, fmt::format("none of this machine's {} PCI devices is one of {}",
                                                          inventory.pci.size(), fmt::join(manifest.pci, ", "))};
        }
    }
    for (const std::string &node : manifest.nodes) {
        if (auto refusal = missing_node(node, inventory.root)) return refusal;
    }
    return std::nullopt;
}

} // namespace hbf::loader
