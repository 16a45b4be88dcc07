// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

// NVMe namespaces hang below a controller, virtio disks below a virtio device: the PCI function is a step further.
int node_of(Reader &reader, const std::filesystem::path &path) {
    for (const char *place : {"device/numa_node", "device/device/numa_node", "device/../numa_node"}) {
        if (reader.exists(path / place)) return reader.node(path / place);
    }
    return -1;
}

} // namespace

void read_blocks(Reader &reader, Inventory &out) {
    const std::filesystem::path folder = "sys/block";
    if (!reader.exists(folder)) {
        reader.problem(folder, "not there: no block devices are known");
        return;
    }
    constexpr uint64_t sector = 512; // of `size`, whatever the device's own block size
    for (const std::string &name : reader.entries(folder)) {
        const auto path = folder / name;
        const auto sectors = reader.number(path / "size");
        if (!sectors) {
            reader.problem(path, "left out: its size cannot be read");
            continue;
        }
        if (*sectors == 0) continue; // no medium, or a loop device without a file
        if (*sectors > UINT64_MAX / sector) {
            reader.problem(path / "size", fmt::format("{} sectors cannot be", *sectors));
            continue;
        }
        BlockDevice block;
        block.name = printable(name);
        block.size = *sectors * sector;
        block.model = reader.text(path / "device/model").value_or("");
        block.scheduler = bracketed(reader.text(path / "queue/scheduler").value_or(""));
        if (const auto size = reader.number(path / "queue/logical_block_size"); size && *size <= UINT32_MAX) {
            block.logical_block = static_cast<uint32_t>(*size);
        }
        block.rotational = reader.number(path / "queue/rotational").value_or(0) != 0;
        block.numa_node = node_of(reader, path);
        out.blocks.push_back(std::move(block));
    }
}

} // namespace hbf::host
