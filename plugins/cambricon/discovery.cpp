// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/discovery.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"
#include "plugins/cambricon/current_device.hpp"
#include "plugins/cambricon/errors.hpp"

namespace hbf::cambricon {
namespace {

constexpr unsigned most_devices = 256;

[[noreturn]] void refuse_count(const Library &library, int code) {
    const std::string what = fmt::format("cnrtGetDeviceCount: {}", error_text(library.cnrt, code));
    switch (code) {
    case code::no_device:
        sdk::fail(HBF_UNAVAILABLE, "no_device: " + what);
    case code::not_permitted:
        sdk::fail(HBF_PERMISSION, fmt::format("permission_denied: {}; remedy: this user needs to read and write "
                                              "/dev/cambricon_ctl and /dev/cambricon_dev*",
                                              what));
    case code::driver_mismatch:
    case code::driver_function_missing:
    case code::compatibility:
        sdk::fail(HBF_UNSUPPORTED, fmt::format("driver_too_old: {}; remedy: the kernel driver that {} (CNRT {}) wants", what,
                                               library.file, library.version.text()));
    case code::not_supported:
        sdk::fail(HBF_UNAVAILABLE, fmt::format("driver_stub: {} counts no devices: {}; remedy: the driver's own library",
                                               library.file, what));
    case code::initialization:
    case code::system_not_ready:
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("driver_absent: {}; remedy: load the kernel driver (modprobe cambricon-drv)", what));
    default:
        sdk::fail(HBF_INTERNAL, what);
    }
}

std::string mask_text() {
    const char *const mask = std::getenv("MLU_VISIBLE_DEVICES");
    return mask ? fmt::format(" (MLU_VISIBLE_DEVICES is \"{:.64}\")", mask) : std::string();
}

// A driver speaks of this machine; a root that is another's must have the device, too.
bool belongs(const DeviceFacts &facts, const std::string &system_root) {
    if (system_root.empty() || system_root == "/") return true;
    std::error_code none;
    return std::filesystem::exists(fmt::format("{}/sys/bus/pci/devices/{}", system_root, facts.pci_address), none) &&
           !facts.pci_address.empty();
}

hbf_device_info info_of(const DeviceFacts &facts) {
    hbf_device_info info{};
    info.struct_size = sizeof info;
    info.reality = HBF_REALITY_REAL;
    info.numa_node = facts.numa_node;
    sdk::set_text(info.id, facts.pci_address.empty() ? fmt::format("mlu{}", facts.ordinal) : "mlu-" + facts.pci_address);
    sdk::set_text(info.name, facts.name);
    sdk::set_text(info.driver, facts.driver);
    sdk::set_text(info.pci_address, facts.pci_address);
    return info;
}

} // namespace

Survey survey(const std::string &system_root) {
    const Library &library = cambricon::library();
    const Cnrt &cnrt = library.cnrt;
    unsigned count = 0;
    if (const int code = cnrt.GetDeviceCount(&count); code != code::success) refuse_count(library, code);
    if (count > most_devices)
        sdk::fail(HBF_INTERNAL, fmt::format("cnrtGetDeviceCount says {}, which no machine has", count));
    Survey out;
    for (int ordinal = 0; ordinal < static_cast<int>(count); ++ordinal) {
        try {
            const OnDevice on(cnrt, ordinal);
            int now = -1;
            check(cnrt, cnrt.GetDevice(&now), "cnrtGetDevice");
            if (now != ordinal) sdk::fail(HBF_UNAVAILABLE, "cnrtSetDevice does not take it");
            DeviceFacts facts = facts_of(library, ordinal, system_root);
            if (!belongs(facts, system_root)) {
                out.troubles.push_back(
                    fmt::format("device {} (\"{}\" at {}) is not in the machine at {}", ordinal, facts.name,
                                facts.pci_address.empty() ? "no PCI address" : facts.pci_address, system_root));
                continue;
            }
            const hbf_device_info info = info_of(facts);
            out.devices.push_back({std::move(facts), info});
        } catch (const sdk::Failure &failure) {
            out.troubles.push_back(fmt::format("device {}: {}", ordinal, failure.message));
        }
    }
    if (out.devices.empty())
        sdk::fail(HBF_UNAVAILABLE, out.troubles.empty()
                                       ? fmt::format("no_device: CNRT {} finds none{}", library.version.text(), mask_text())
                                       : fmt::format("no_device: {}{}", fmt::join(out.troubles, "; "), mask_text()));
    return out;
}

} // namespace hbf::cambricon
