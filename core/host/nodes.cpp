// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

// What firmware (HMAT) says of the path from the nearest processors; access1 counts CPUs only, access0 any initiator.
std::optional<uint64_t> attribute(Reader &reader, const std::filesystem::path &node, const char *name) {
    for (const char *access : {"access1", "access0"}) {
        const auto path = node / access / "initiators" / name;
        if (!reader.exists(path)) continue;
        const auto value = reader.number(path);
        if (value && *value > 0) return value; // 0: the firmware did not say
    }
    return std::nullopt;
}

void read_distances(Reader &reader, const std::filesystem::path &path, NumaNode &node) {
    const auto text = reader.text(path);
    if (!text) return;
    for (const std::string_view word : words(*text)) {
        const auto value = parse_unsigned(word);
        if (!value || *value > 255) {
            reader.problem(path, "expected distances up to 255");
            node.distances.clear();
            return;
        }
        node.distances.push_back(static_cast<int>(*value));
    }
}

} // namespace

void read_nodes(Reader &reader, Inventory &out) {
    const std::filesystem::path folder = "sys/devices/system/node";
    if (!reader.exists(folder)) return; // a kernel without NUMA support
    for (const std::string &name : reader.entries(folder)) {
        if (!name.starts_with("node")) continue;
        const auto id = parse_unsigned(std::string_view(name).substr(4));
        if (!id || *id > 65535) continue;
        const auto path = folder / name;
        NumaNode node;
        node.id = static_cast<int>(*id);
        if (const auto text = reader.text(path / "cpulist")) {
            if (auto cpus = parse_list(*text)) {
                node.cpus = std::move(*cpus);
            } else {
                reader.problem(path / "cpulist",
                               fmt::format("expected a list of CPUs, found \"{}\"; node left out", text->substr(0, 40)));
                continue; // without its CPUs it would pass for far memory
            }
        } else {
            reader.problem(path, "left out: its cpulist cannot be read");
            continue;
        }
        if (const auto text = reader.text(path / "meminfo")) {
            const auto total = meminfo_bytes(*text, "MemTotal"), free = meminfo_bytes(*text, "MemFree");
            if (!total || !free || *free > *total)
                reader.problem(path / "meminfo", "MemTotal or MemFree is missing or wrong");
            else
                node.memory_bytes = *total, node.free_bytes = *free;
        } else {
            reader.problem(path, "its meminfo cannot be read; its size is unknown");
        }
        read_distances(reader, path / "distance", node);
        if (const auto value = attribute(reader, path, "read_bandwidth"))
            node.bandwidth_gbs = static_cast<double>(*value) / 1e3;
        if (const auto value = attribute(reader, path, "read_latency")) node.latency_ns = static_cast<double>(*value);
        out.nodes.push_back(std::move(node));
    }
}

} // namespace hbf::host
