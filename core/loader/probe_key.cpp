// SPDX-License-Identifier: Apache-2.0
#include "core/loader/probe_key.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/common/environment.hpp"
#include "core/common/read_file.hpp"
#include "core/loader/bind.hpp"
#include "core/loader/identity.hpp"
#include "core/loader/install_paths.hpp"
#include "core/loader/needs.hpp"
#include "core/loader/text.hpp"
#include "hbf/system.hpp"

namespace hbf::loader {
namespace {

namespace fs = std::filesystem;

// A name ending in * is a prefix.
constexpr std::array common_variables = {
    "PATH",         "HOME",         "USER",         "LOGNAME",         "LANG",         "LC_*",
    "TZ",           "TMPDIR",       "XDG_*",        "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS",
    "TSAN_OPTIONS", "LSAN_OPTIONS", "HBF_EMULATE_*"};

void add_variable(const std::string &pattern, std::vector<std::string> &out) {
    if (pattern.ends_with('*')) {
        for (const auto &[name, value] : environment_with_prefix(std::string_view(pattern).substr(0, pattern.size() - 1))) {
            out.push_back(name + "=" + value);
        }
    } else if (const auto value = environment(pattern.c_str())) {
        out.push_back(pattern + "=" + *value);
    }
}

std::string counted(std::string_view text) {
    return fmt::format("{}:{}", text.size(), text); // with its length, so that no two lists look alike
}

std::string file_facts(const std::string &path) {
    struct stat facts = {};
    if (stat(path.c_str(), &facts) != 0) return "absent";
    const FileIdentity id = FileIdentity::of(facts);
    return fmt::format("{} {} {} {} {:o} {} {} {}", id.inode, id.size, id.modified_ns, id.changed_ns, facts.st_mode,
                       facts.st_uid, facts.st_gid, facts.st_rdev);
}

// Files of sysfs and procfs get new times at each look; what they say is what counts: a driver's version, mostly.
std::string content_facts(const std::string &path) {
    constexpr size_t longest = 4096;
    const auto text = read_file(path, longest);
    return text ? counted(*text) : "unreadable";
}

std::vector<std::string> library_folders() {
    std::vector<std::string> folders;
    if (const auto path = environment("LD_LIBRARY_PATH")) folders = split(*path, ':');
    std::erase_if(folders, [](const std::string &folder) { return !folder.starts_with('/'); });
#if defined(__x86_64__)
    const std::string triplet = "x86_64-linux-gnu";
#else
    const std::string triplet = "aarch64-linux-gnu";
#endif
    for (const char *base : {"/usr/local/lib", "/lib", "/usr/lib"}) {
        folders.push_back(fmt::format("{}/{}", base, triplet));
        folders.emplace_back(base);
    }
    folders.emplace_back("/usr/lib64");
    return folders;
}

std::vector<std::string> driver_paths(const std::string &pattern, const fs::path &root) {
    if (pattern.find('/') != std::string::npos) return expand(root, pattern);
    std::vector<std::string> paths;
    for (const std::string &folder : library_folders()) {
        const auto found = expand(root, folder + "/" + pattern);
        paths.insert(paths.end(), found.begin(), found.end());
    }
    return paths;
}

// Readings that differ from one moment to the next decide nothing.
bool is_fleeting(const std::string &setting) {
    return setting.starts_with("edac") || setting.ends_with("_free") || setting.ends_with("_available") ||
           setting.ends_with("_current");
}

std::string below(const fs::path &root, const std::string &path) {
    return root == "/" ? path : root.string() + path;
}

} // namespace

std::vector<std::string> probe_environment(const Manifest &manifest) {
    std::vector<std::string> out;
    for (const char *pattern : common_variables) add_variable(pattern, out);
    for (const std::string &pattern : manifest.environment) add_variable(pattern, out);
    if (process_is_privileged()) out.emplace_back("PATH=/usr/bin:/bin");
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::string machine_key(const Inventory &inventory) {
    std::string key = fmt::format("libhbf {} abi {} sanitizer {}\n", version(), abi_text(host_abi_max), host_sanitizer());
    key += fmt::format("self {}\nprobe {}\n", file_facts(install_paths().self.string()),
                       file_facts(install_paths().probe.string()));
    key +=
        fmt::format("boot {} kernel {}\nroot {}\n", inventory.boot_id, inventory.kernel, counted(inventory.root.string()));
    std::array<gid_t, 1024> groups;
    const int count = getgroups(groups.size(), groups.data());
    key += fmt::format("user {} {} {}\n", geteuid(), getegid(),
                       fmt::join(groups.begin(), groups.begin() + std::max(count, 0), ","));
    for (const PciDevice &device : inventory.pci) {
        key += fmt::format("pci {} {:04x}:{:04x} {:06x} {} {}\n", device.address, device.vendor, device.device,
                           device.class_code, device.numa_node, device.driver);
    }
    for (const NumaNode &node : inventory.nodes) {
        key += fmt::format("node {} {} {} {}\n", node.id, node.memory_bytes, fmt::join(node.cpus, ","), node.cxl);
    }
    for (const DaxDevice &dax : inventory.dax)
        key += fmt::format("dax {} {} {} {}\n", dax.name, dax.mode, dax.size, dax.target_node);
    for (const BlockDevice &block : inventory.blocks)
        key += fmt::format("block {} {} {}\n", block.name, block.size, counted(block.model));
    for (const auto &[name, setting] : inventory.settings) {
        if (!is_fleeting(name)) key += fmt::format("setting {} {}\n", name, counted(setting.value.value_or("?")));
    }
    key += "ld.so.cache " + file_facts(below(inventory.root, "/etc/ld.so.cache")) + "\n";
    return key;
}

std::string plugin_key(const Manifest &manifest, const ProbeJob &job, const std::string &sha256, const fs::path &root) {
    std::string key = fmt::format("library {} {}\nname {} {}\n", counted(job.request.plugin_file), sha256, manifest.name,
                                  manifest.emulation);
    for (const auto &[name, value] : job.request.options)
        key += fmt::format("option {} {}\n", counted(name), counted(value));
    for (const std::string &variable : job.environment) key += fmt::format("environment {}\n", counted(variable));
    for (const std::string &pattern : manifest.nodes) {
        for (const std::string &node : expand(root, pattern))
            key += fmt::format("node {} {}\n", counted(node), file_facts(below(root, node)));
    }
    for (const std::string &pattern : manifest.driver_files) {
        for (const std::string &path : driver_paths(pattern, root)) {
            const bool virtual_file = path.starts_with("/sys/") || path.starts_with("/proc/");
            const std::string real = below(root, path);
            std::error_code error;
            // The real name carries the version, as in libacme.so.1 -> libacme.so.550.54.
            key += fmt::format("driver {} {} {}\n", counted(path), counted(fs::canonical(real, error).string()),
                               virtual_file ? content_facts(real) : file_facts(real));
        }
    }
    return key;
}

} // namespace hbf::loader
