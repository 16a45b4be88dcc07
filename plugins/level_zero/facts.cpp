// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/facts.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "plugins/level_zero/errors.hpp"

namespace hbf::level_zero {
namespace {

std::string text_of(const char (&field)[256]) {
    return std::string(field, ::strnlen(field, sizeof field));
}

// Copies go to engines that do nothing else, beside kernels; but only to one that fills the patterns there are.
void choose_groups(const Functions &ze, ze::Device device, DeviceFacts &out) {
    uint32_t count = 0;
    check(ze.zeDeviceGetCommandQueueGroupProperties(device, &count, nullptr), "zeDeviceGetCommandQueueGroupProperties");
    std::vector<ze::GroupProperties> groups(std::min(count, 64u));
    count = static_cast<uint32_t>(groups.size());
    if (count != 0)
        check(ze.zeDeviceGetCommandQueueGroupProperties(device, &count, groups.data()),
              "zeDeviceGetCommandQueueGroupProperties");
    for (uint32_t i = 0; i < count; ++i) {
        const ze::GroupProperties &group = groups[i];
        if (group.numQueues == 0 || group.maxMemoryFillPatternSize < 8) continue;
        if ((group.flags & ze::computes) && (group.flags & ze::copies) && out.compute_group == no_group)
            out.compute_group = i;
        if (!(group.flags & ze::computes) && (group.flags & ze::copies) && out.copy_group == no_group) out.copy_group = i;
    }
}

void read_properties(const Functions &ze, ze::Device device, DeviceFacts &out) {
    ze::DeviceProperties properties{};
    check(ze.zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
    out.name = text_of(properties.name);
    out.type = properties.type;
    out.flags = properties.flags;
    out.largest = properties.maxMemAllocSize;
    out.units = std::max(1u, properties.numSlices * properties.numSubslicesPerSlice);
    for (const uint8_t byte : properties.uuid) out.uuid += fmt::format("{:02x}", byte);
}

void read_compute(const Functions &ze, ze::Device device, DeviceFacts &out) {
    ze::ComputeProperties compute{};
    check(ze.zeDeviceGetComputeProperties(device, &compute), "zeDeviceGetComputeProperties");
    out.most_items = compute.maxTotalGroupSize;
    out.local_bytes = compute.maxSharedLocalMemory;
    out.group_extent = {compute.maxGroupSizeX, compute.maxGroupSizeY, compute.maxGroupSizeZ};
    out.group_count = {compute.maxGroupCountX, compute.maxGroupCountY, compute.maxGroupCountZ};
    ze::ModuleProperties modules{};
    check(ze.zeDeviceGetModuleProperties(device, &modules), "zeDeviceGetModuleProperties");
    out.modules = modules.flags;
    out.argument_bytes = modules.maxArgumentsSize;
}

void read_memory(const Functions &ze, ze::Device device, DeviceFacts &out) {
    uint32_t count = 0;
    check(ze.zeDeviceGetMemoryProperties(device, &count, nullptr), "zeDeviceGetMemoryProperties");
    std::vector<ze::MemoryProperties> memories(std::min(count, 16u));
    count = static_cast<uint32_t>(memories.size());
    if (count != 0) check(ze.zeDeviceGetMemoryProperties(device, &count, memories.data()), "zeDeviceGetMemoryProperties");
    // Allocations name a memory by its ordinal; 0 is the one that this plugin takes.
    out.memory = count != 0 ? memories.front().totalSize : 0;
    ze::MemoryAccessProperties access{};
    check(ze.zeDeviceGetMemoryAccessProperties(device, &access), "zeDeviceGetMemoryAccessProperties");
    out.host_access = access.hostAllocCapabilities;
    out.shared_access = access.sharedSingleDeviceAllocCapabilities;
}

} // namespace

DeviceFacts read_facts(const Functions &ze, ze::Driver driver, ze::Device device) {
    DeviceFacts out;
    check(ze.zeDriverGetApiVersion(driver, &out.api_version), "zeDriverGetApiVersion");
    ze::DriverProperties properties{};
    check(ze.zeDriverGetProperties(driver, &properties), "zeDriverGetProperties");
    out.driver_version = properties.driverVersion;
    read_properties(ze, device, out);
    read_compute(ze, device, out);
    read_memory(ze, device, out);
    choose_groups(ze, device, out);
    ze::PciProperties pci{};
    if (ze.zeDevicePciGetPropertiesExt && ze.zeDevicePciGetPropertiesExt(device, &pci) == ze::success)
        out.pci_address = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.device, pci.function);
    return out;
}

} // namespace hbf::level_zero
