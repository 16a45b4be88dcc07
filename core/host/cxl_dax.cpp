// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

void mark(Inventory &out, int node) {
    for (NumaNode &known : out.nodes) {
        if (known.id == node) known.cxl = true;
    }
}

// The NUMA node whose memory blocks cover this physical address; -1 if it is not system memory.
int node_at(Reader &reader, uint64_t address, uint64_t block_size) {
    const auto block = std::filesystem::path("sys/devices/system/memory") / fmt::format("memory{}", address / block_size);
    for (const std::string &entry : reader.entries(block)) {
        if (!entry.starts_with("node")) continue;
        if (const auto id = parse_unsigned(std::string_view(entry).substr(4)); id && *id <= 65535)
            return static_cast<int>(*id);
    }
    return -1;
}

// Written without 0x.
uint64_t memory_block_size(Reader &reader) {
    const auto text = reader.text("sys/devices/system/memory/block_size_bytes");
    return text ? parse_unsigned("0x" + *text).value_or(0) : 0;
}

void read_cxl(Reader &reader, Inventory &out) {
    const std::filesystem::path folder = "sys/bus/cxl/devices";
    uint64_t block_size = 0;
    for (const std::string &name : reader.entries(folder)) {
        const auto path = folder / name;
        CxlDevice device;
        device.name = name;
        if (name.starts_with("mem")) {
            device.type = "memory";
            device.ram_bytes = reader.number(path / "ram/size").value_or(0);
            device.persistent_bytes = reader.number(path / "pmem/size").value_or(0);
            device.numa_node = reader.node(path / "numa_node");
        } else if (name.starts_with("region")) {
            device.type = "region";
            const uint64_t size = reader.number(path / "size").value_or(0);
            const bool persistent = reader.text(path / "mode").value_or("") == "pmem";
            (persistent ? device.persistent_bytes : device.ram_bytes) = size;
            const auto resource = reader.number(path / "resource");
            if (block_size == 0) block_size = memory_block_size(reader);
            if (resource && *resource != 0 && *resource != UINT64_MAX && block_size != 0) {
                device.numa_node = node_at(reader, *resource, block_size);
                if (!persistent) mark(out, device.numa_node);
            }
        } else {
            continue; // ports, decoders, endpoints
        }
        out.cxl.push_back(std::move(device));
    }
}

void read_dax(Reader &reader, Inventory &out) {
    const std::filesystem::path folder = "sys/bus/dax/devices";
    for (const std::string &name : reader.entries(folder)) {
        const auto path = folder / name;
        DaxDevice device;
        device.name = name;
        device.size = reader.number(path / "size").value_or(0);
        device.target_node = reader.node(path / "target_node");
        const std::string driver = reader.link_name(path / "driver");
        device.mode = driver == "kmem" ? "system-ram" : driver == "device_dax" ? "devdax" : driver;
        if (device.mode == "system-ram") mark(out, device.target_node);
        out.dax.push_back(std::move(device));
    }
}

} // namespace

void read_cxl_dax(Reader &reader, Inventory &out) {
    read_cxl(reader, out);
    read_dax(reader, out);
}

} // namespace hbf::host
