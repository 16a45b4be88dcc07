// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/environment.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "git_commit.hpp"

namespace hbf::tools::bandwidth {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> first_line(const fs::path &path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line.empty()) return std::nullopt;
    return line;
}

// "key<tab>: value" of /proc/cpuinfo
void read_cpuinfo(const fs::path &path, Environment &out) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(": ");
        if (colon == std::string::npos) continue;
        const auto key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1), value = line.substr(colon + 2);
        if (key == "microcode" && !out.microcode) out.microcode = value;
        const auto mhz = key == "cpu MHz" ? parse_real(value) : std::nullopt;
        if (!mhz) continue;
        out.mhz_least = std::min(out.mhz_least.value_or(*mhz), *mhz);
        out.mhz_most = std::max(out.mhz_most.value_or(*mhz), *mhz);
    }
}

std::optional<std::string> read_governor(const fs::path &policies) {
    std::set<std::string> seen;
    std::error_code error;
    for (const auto &policy : fs::directory_iterator(policies, error)) {
        if (auto governor = first_line(policy.path() / "scaling_governor")) seen.insert(*governor);
    }
    if (seen.empty()) return std::nullopt;
    return fmt::format("{}", fmt::join(seen, ", "));
}

} // namespace

Environment read_environment(const fs::path &root) {
    Environment out;
    out.git = HBF_GIT_COMMIT;
    out.compiler = __VERSION__;
    read_cpuinfo(root / "proc/cpuinfo", out);
    const auto cpu = root / "sys/devices/system/cpu";
    out.governor = read_governor(cpu / "cpufreq");
    if (auto off = first_line(cpu / "intel_pstate/no_turbo")) out.turbo = *off == "0" ? "on" : "off";
    if (auto boost = first_line(cpu / "cpufreq/boost")) out.turbo = *boost == "1" ? "on" : "off";
    return out;
}

Json environment_json(const Inventory &inventory, const Environment &environment) {
    auto settings = Json::object();
    for (const auto &[name, setting] : inventory.settings) {
        settings.set(name, Json::object({{"value", setting.value}, {"source", setting.source}, {"error", setting.error}}));
    }
    auto links = Json::array();
    for (const auto &device : inventory.pci) {
        if (device.link.current_width == 0) continue;
        links.push(Json::object({{"address", device.address},
                                 {"gt_per_s", device.link.current_gts},
                                 {"gt_per_s_max", device.link.max_gts},
                                 {"width", device.link.current_width},
                                 {"width_max", device.link.max_width}}));
    }
    return Json::object({{"kernel", inventory.kernel},
                         {"cpu", inventory.cpu_model},
                         {"microcode", environment.microcode},
                         {"governor", environment.governor},
                         {"turbo", environment.turbo},
                         {"cpu_mhz_least", environment.mhz_least},
                         {"cpu_mhz_most", environment.mhz_most},
                         {"compiler", environment.compiler},
                         {"hypervisor", inventory.hypervisor},
                         {"boot_id", inventory.boot_id},
                         {"numa_nodes", inventory.nodes.size()},
                         {"last_level_cache_bytes", inventory.last_level_cache_bytes},
                         {"pci_links", links},
                         {"settings", settings}});
}

} // namespace hbf::tools::bandwidth
