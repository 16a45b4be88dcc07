// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/host_facts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include "core/output/size.hpp"

namespace hbf::conformance {
namespace {

std::string setting(const Inventory &inventory, const char *key) {
    const auto found = inventory.settings.find(key);
    if (found == inventory.settings.end()) return "";
    return found->second.value.value_or("");
}

std::string usable_cpus() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
    return std::to_string(CPU_COUNT(&set));
}

} // namespace

Facts host_facts(const Inventory &inventory) {
    Facts out;
    const auto add = [&](const char *key, const std::string &value) {
        if (!value.empty()) out.emplace_back(key, value);
    };
    utsname system = {};
    uname(&system);
    add("cpu", inventory.cpu_model.empty() ? system.machine : inventory.cpu_model);
    add("architecture", system.machine);
    add("cpus", usable_cpus());
    add("kernel", inventory.kernel);
    if (const auto bytes = parse_number(setting(inventory, "mem_total"))) add("memory", format_size(*bytes));
    add("numa_nodes", std::to_string(std::max<size_t>(1, inventory.nodes.size())));
    add("hypervisor", inventory.hypervisor.empty() ? "none" : inventory.hypervisor);
    if (inventory.last_level_cache_bytes) add("last_level_cache", format_size(inventory.last_level_cache_bytes));
    for (const char *key : {"thp", "numa_balancing", "iommu", "memlock", "cgroup_memory_max", "cpuset_cpus"})
        add(key, setting(inventory, key));
    return out;
}

std::vector<std::pair<std::string, uint64_t>> host_health(const Inventory &inventory) {
    std::vector<std::pair<std::string, uint64_t>> out;
    for (const char *key : {"edac_ce", "edac_ue", "aer_correctable", "aer_nonfatal", "aer_fatal"})
        if (const auto count = parse_number(setting(inventory, key))) out.emplace_back(fmt::format("host.{}", key), *count);
    return out;
}

std::vector<std::string> health_changes(const std::vector<std::pair<std::string, uint64_t>> &before,
                                        const std::vector<std::pair<std::string, uint64_t>> &after) {
    std::vector<std::string> out;
    for (const auto &[name, count] : before) {
        const auto now = std::find_if(after.begin(), after.end(), [&](const auto &one) { return one.first == name; });
        if (now == after.end())
            out.push_back(fmt::format("{} {} -> not readable any more", name, count));
        else if (now->second != count)
            out.push_back(fmt::format("{} {} -> {}", name, count, now->second));
    }
    return out;
}

} // namespace hbf::conformance
