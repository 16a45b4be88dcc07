// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/device_facts.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>

#include <fmt/format.h>

#include "plugins/cambricon/current_device.hpp"
#include "plugins/cambricon/errors.hpp"

namespace hbf::cambricon {
namespace {

int attribute_of(const Cnrt &cnrt, int attribute, int ordinal) {
    int value = 0;
    return cnrt.DeviceGetAttribute(&value, attribute, ordinal) == code::success ? std::max(value, 0) : 0;
}

// CNDrv wants CNRT called first (BANG C/C++ guide, "mixing CNDrv and CNRT").
std::string name_of(const Library &library, int ordinal) {
    const Cndrv &drv = library.drv;
    char name[128] = {};
    CnDevice device = 0;
    if (drv.Init && drv.Init(0) == code::success && drv.DeviceGet(&device, ordinal) == code::success &&
        drv.DeviceGetName(name, sizeof name - 1, device) == code::success && name[0] != '\0')
        return name;
    const int isa = attribute_of(library.cnrt, attribute::isa_version, ordinal);
    return isa ? fmt::format("Cambricon MLU, ISA {}", isa) : "Cambricon MLU";
}

std::string versions_of(const Library &library) {
    std::string text = "CNRT " + library.version.text();
    Version version;
    if (library.drv.GetLibVersion &&
        library.drv.GetLibVersion(&version.major, &version.minor, &version.patch) == code::success)
        text += ", CNDrv " + version.text();
    if (library.drv.GetDriverVersion &&
        library.drv.GetDriverVersion(&version.major, &version.minor, &version.patch) == code::success)
        text += ", kernel driver " + version.text();
    return text;
}

std::string address_of(const Cnrt &cnrt, int ordinal) {
    char text[32] = {};
    if (cnrt.DeviceGetPCIBusId(text, sizeof text - 1, ordinal) != code::success) return {};
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

} // namespace

DeviceFacts facts_of(const Library &library, int ordinal, const std::string &system_root) {
    const Cnrt &cnrt = library.cnrt;
    DeviceFacts facts;
    facts.ordinal = ordinal;
    facts.name = name_of(library, ordinal);
    facts.driver = versions_of(library);
    facts.pci_address = address_of(cnrt, ordinal);
    if (!facts.pci_address.empty()) {
        std::ifstream file(fmt::format("{}/sys/bus/pci/devices/{}/numa_node", system_root, facts.pci_address));
        if (int node = -1; file >> node) facts.numa_node = node;
    }
    facts.clusters = attribute_of(cnrt, attribute::cluster_count, ordinal);
    facts.ecc = attribute_of(cnrt, attribute::ecc_enabled, ordinal) != 0;
    // kHz and bits; two transfers a clock.
    facts.bandwidth = 2000ull * static_cast<uint64_t>(attribute_of(cnrt, attribute::memory_clock, ordinal)) *
                      static_cast<uint64_t>(attribute_of(cnrt, attribute::memory_bus_width, ordinal)) / 8;
    size_t free = 0, total = 0;
    check(cnrt, cnrt.MemGetInfo(&free, &total), "cnrtMemGetInfo");
    facts.memory = total, facts.free = std::min(free, total);
    return facts;
}

} // namespace hbf::cambricon
