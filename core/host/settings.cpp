// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

void read_huge_pages(Reader &reader, Inventory &out) {
    const std::filesystem::path folder = "sys/kernel/mm/hugepages";
    for (const std::string &name : reader.entries(folder)) {
        if (!name.starts_with("hugepages-")) continue;
        const std::string key = "hugepages_" + printable(name.substr(10));
        out.settings[key] = reader.setting(folder / name / "nr_hugepages");
        out.settings[key + "_free"] = reader.setting(folder / name / "free_hugepages");
    }
}

void read_memory_totals(Reader &reader, Inventory &out) {
    const std::filesystem::path path = "proc/meminfo";
    const auto text = reader.text(path);
    for (const auto &[key, name] : {std::pair{"mem_total", "MemTotal"}, std::pair{"mem_available", "MemAvailable"}}) {
        Setting setting;
        setting.source = reader.full(path).string();
        const auto value = text ? meminfo_bytes(*text, name) : std::nullopt;
        if (value)
            setting.value = std::to_string(*value);
        else
            setting.error = fmt::format("{}: no {} in it", setting.source, name);
        out.settings[key] = std::move(setting);
    }
}

// The kind of translation each group of devices has: "identity" is passthrough.
void read_iommu(Reader &reader, Inventory &out) {
    const std::filesystem::path folder = "sys/kernel/iommu_groups";
    Setting setting;
    setting.source = reader.full(folder).string();
    if (!reader.exists(folder)) {
        setting.error = setting.source + ": not there";
    } else {
        std::set<std::string> types;
        const auto groups = reader.entries(folder);
        for (const std::string &group : groups) {
            if (const auto type = reader.text(folder / group / "type"))
                types.insert(*type);
            else
                setting.error = fmt::format("{}: cannot be read", reader.full(folder / group / "type").string());
        }
        if (groups.empty())
            setting.value = "off";
        else if (setting.error.empty())
            setting.value = fmt::format("{}", fmt::join(types, ","));
    }
    out.settings["iommu"] = std::move(setting);

    Setting options = reader.setting("proc/cmdline");
    if (options.value) {
        std::string found;
        for (const std::string_view word : words(*options.value)) {
            const std::string_view name = word.substr(0, word.find('='));
            if (name.find("iommu") == std::string_view::npos && word.find("acs") == std::string_view::npos) continue;
            found += (found.empty() ? "" : " ") + std::string(word);
        }
        options.value = found;
    }
    out.settings["iommu_cmdline"] = std::move(options);
}

void read_edac(Reader &reader, Inventory &out) {
    const std::filesystem::path folder = "sys/devices/system/edac/mc";
    for (const auto &[key, file] : {std::pair{"edac_ce", "ce_count"}, std::pair{"edac_ue", "ue_count"}}) {
        Setting setting;
        setting.source = reader.full(folder).string();
        uint64_t sum = 0, controllers = 0;
        for (const std::string &name : reader.entries(folder)) {
            if (!name.starts_with("mc") || !parse_unsigned(std::string_view(name).substr(2))) continue;
            ++controllers;
            if (const auto count = reader.number(folder / name / file))
                sum += *count;
            else
                setting.error = fmt::format("{}: cannot be read", reader.full(folder / name / file).string());
        }
        if (controllers == 0) setting.error = setting.source + ": no memory controller reports errors (no EDAC driver)";
        if (setting.error.empty()) setting.value = std::to_string(sum);
        out.settings[key] = std::move(setting);
    }
}

// Errors that PCI Express devices report (AER), over all of them: files like "RxErr 0\n...\nTOTAL_ERR_COR 0".
void read_aer(Reader &reader, Inventory &out) {
    const std::filesystem::path folder = "sys/bus/pci/devices";
    for (const auto &[key, file] :
         {std::pair{"aer_correctable", "aer_dev_correctable"}, std::pair{"aer_nonfatal", "aer_dev_nonfatal"},
          std::pair{"aer_fatal", "aer_dev_fatal"}}) {
        Setting setting;
        setting.source = reader.full(folder).string();
        uint64_t sum = 0, devices = 0;
        for (const std::string &name : reader.entries(folder)) {
            if (!reader.exists(folder / name / file)) continue;
            const auto text = reader.text(folder / name / file);
            const auto parts = words(text ? std::string_view(*text) : std::string_view());
            const auto total = parts.empty() ? std::nullopt : parse_unsigned(parts.back());
            if (total)
                sum += *total, ++devices;
            else
                setting.error = fmt::format("{}: cannot be read", reader.full(folder / name / file).string());
        }
        if (devices == 0 && setting.error.empty()) setting.error = setting.source + ": no device reports errors (no AER)";
        if (setting.error.empty()) setting.value = std::to_string(sum);
        out.settings[key] = std::move(setting);
    }
}

} // namespace

void read_kernel_settings(Reader &reader, Inventory &out) {
    const auto required = [&reader](const char *path) {
        const auto text = reader.text(path);
        if (!text) reader.problem(path, "not there or not readable");
        return text.value_or("");
    };
    out.kernel = required("proc/sys/kernel/osrelease");
    out.boot_id = required("proc/sys/kernel/random/boot_id");

    const auto chosen = [&reader](const char *path) {
        Setting setting = reader.setting(path);
        if (setting.value) setting.value = bracketed(*setting.value);
        return setting;
    };
    out.settings["thp"] = chosen("sys/kernel/mm/transparent_hugepage/enabled");
    out.settings["thp_defrag"] = chosen("sys/kernel/mm/transparent_hugepage/defrag");
    out.settings["numa_balancing"] = reader.setting("proc/sys/kernel/numa_balancing");
    out.settings["overcommit_memory"] = reader.setting("proc/sys/vm/overcommit_memory");
    out.settings["swappiness"] = reader.setting("proc/sys/vm/swappiness");
    out.settings["io_uring_disabled"] = reader.setting("proc/sys/kernel/io_uring_disabled");
    read_huge_pages(reader, out);
    read_memory_totals(reader, out);
    read_iommu(reader, out);
    read_edac(reader, out);
    read_aer(reader, out);
}

void read_process_limits(Reader &reader, Inventory &out) {
    const std::filesystem::path limits = "proc/self/limits", status = "proc/self/status";
    const auto limits_text = reader.text(limits), status_text = reader.text(status);
    const auto set = [&](const char *key, const std::filesystem::path &path, const auto &text, std::string_view line_name,
                         size_t word) {
        Setting setting;
        setting.source = reader.full(path).string();
        for (const std::string_view line : text ? lines(*text) : std::vector<std::string_view>()) {
            if (!line.starts_with(line_name)) continue;
            const auto found = words(line.substr(line_name.size()));
            if (found.size() > word) setting.value = std::string(found[word]);
        }
        if (!setting.value) setting.error = fmt::format("{}: no \"{}\" in it", setting.source, line_name);
        out.settings[key] = std::move(setting);
    };
    set("memlock", limits, limits_text, "Max locked memory", 0);
    set("nofile", limits, limits_text, "Max open files", 0);
    set("cpuset_cpus", status, status_text, "Cpus_allowed_list:", 0);
    set("cpuset_mems", status, status_text, "Mems_allowed_list:", 0);
}

} // namespace hbf::host
