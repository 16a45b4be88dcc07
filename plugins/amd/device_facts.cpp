// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/device_facts.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "plugins/amd/errors.hpp"

namespace hbf::amd {
namespace {

// 0 where the runtime does not know the question.
int64_t ask(const Hip &hip, int ordinal, int attribute) {
    int value = 0;
    return taken(hip.DeviceGetAttribute(&value, attribute, ordinal)) == code::success ? value : 0;
}

void ask_limit(const Hip &hip, int ordinal, int attribute, uint32_t &out) {
    const int64_t value = ask(hip, ordinal, attribute);
    if (value > 0) out = static_cast<uint32_t>(value);
}

} // namespace

DeviceFacts facts_of(const Hip &hip, int ordinal) {
    DeviceFacts facts;
    facts.ordinal = ordinal;
    char text[256] = {};
    check(hip.DeviceGetName(text, sizeof text - 1, ordinal), "hipDeviceGetName");
    facts.name = text;
    char address[64] = {};
    check(hip.DeviceGetPCIBusId(address, sizeof address - 1, ordinal), "hipDeviceGetPCIBusId");
    facts.pci_address = normal_pci_address(address);
    if (facts.pci_address.empty())
        sdk::fail(HBF_INTERNAL, fmt::format("hipDeviceGetPCIBusId gives \"{}\", which is no PCI address", address));
    ask_limit(hip, ordinal, attribute::compute_units, facts.compute_units);
    ask_limit(hip, ordinal, attribute::shared_memory, facts.shared_memory);
    for (int i = 0; i < 3; ++i) {
        ask_limit(hip, ordinal, attribute::max_block_x + i, facts.block[i]);
        ask_limit(hip, ordinal, attribute::max_grid_x + i, facts.grid[i]);
    }
    facts.integrated = ask(hip, ordinal, attribute::integrated) != 0;
    facts.ecc = ask(hip, ordinal, attribute::ecc_enabled) != 0;
    facts.svm = ask(hip, ordinal, attribute::concurrent_managed_access) != 0;
    facts.xnack = ask(hip, ordinal, attribute::pageable_memory_access) != 0;
    facts.large_bar = ask(hip, ordinal, attribute::large_bar) != 0;
    return facts;
}

std::string normal_pci_address(const std::string &text) {
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    int end = 0;
    if (std::sscanf(text.c_str(), "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &end) != 4 ||
        static_cast<size_t>(end) != text.size() || domain > 0xffff'ffff || bus > 0xff || device > 0x1f || function > 7)
        return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

} // namespace hbf::amd
