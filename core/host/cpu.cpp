// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

constexpr size_t one_cpu = 16384; // /proc/cpuinfo repeats itself for every CPU: the first one's entry is enough

std::string field(std::string_view cpuinfo, std::string_view name) {
    for (const std::string_view line : lines(cpuinfo)) {
        const size_t colon = line.find(':');
        if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == name)
            return printable(trimmed(line.substr(colon + 1)));
    }
    return {};
}

std::string model(std::string_view cpuinfo) {
    if (std::string name = field(cpuinfo, "model name"); !name.empty()) return name;
    const std::string implementer = field(cpuinfo, "CPU implementer"), part = field(cpuinfo, "CPU part");
    if (implementer.empty() || part.empty()) return {};
    return fmt::format("Arm, implementer {}, part {}", implementer, part);
}

// Firmware's names for the machine, where a CPU flag or a device tree node says that it is a virtual one.
std::string hypervisor(Reader &reader, std::string_view cpuinfo) {
    if (const auto type = reader.text("sys/hypervisor/type"); type && !type->empty() && *type != "none") return *type;
    const std::string flags = field(cpuinfo, "flags");
    const auto all = words(flags);
    const bool flagged = std::find(all.begin(), all.end(), "hypervisor") != all.end();
    if (const auto name = reader.text("proc/device-tree/hypervisor/compatible")) return *name;
    if (!flagged) return {};
    const std::string vendor = reader.text("sys/class/dmi/id/sys_vendor").value_or("");
    return vendor.empty() ? "unnamed" : vendor;
}

// "32768K", "1M"
uint64_t cache_size(std::string_view text) {
    if (text.empty()) return 0;
    const uint64_t unit = text.back() == 'K' ? 1024 : text.back() == 'M' ? 1024 * 1024 : 0;
    if (unit != 0) text.remove_suffix(1);
    const auto value = parse_unsigned(text);
    return value && *value < (uint64_t{1} << 40) ? *value * std::max<uint64_t>(unit, 1) : 0;
}

uint64_t last_level_cache(Reader &reader) {
    const std::filesystem::path cpus = "sys/devices/system/cpu";
    for (const std::string &cpu : reader.entries(cpus)) {
        if (!cpu.starts_with("cpu") || !parse_unsigned(std::string_view(cpu).substr(3))) continue;
        uint64_t level = 0, size = 0;
        for (const std::string &index : reader.entries(cpus / cpu / "cache")) {
            if (!index.starts_with("index")) continue;
            const auto path = cpus / cpu / "cache" / index;
            if (reader.text(path / "type").value_or("") == "Instruction") continue;
            const uint64_t found = reader.number(path / "level").value_or(0);
            if (found <= level) continue;
            level = found;
            size = cache_size(reader.text(path / "size").value_or(""));
        }
        if (size != 0) return size; // an offline CPU has no caches: look at the next one
    }
    return 0;
}

} // namespace

void read_cpu(Reader &reader, Inventory &out) {
    const std::string cpuinfo = reader.head("proc/cpuinfo", one_cpu).value_or("");
    out.cpu_model = model(cpuinfo);
    if (out.cpu_model.empty()) reader.problem("proc/cpuinfo", "not there, or it names no CPU model");
    out.hypervisor = hypervisor(reader, cpuinfo);
    out.last_level_cache_bytes = last_level_cache(reader);
}

} // namespace hbf::host
