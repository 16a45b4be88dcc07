// SPDX-License-Identifier: Apache-2.0
// What can be told of accelerators without any vendor's program, and which program tells the rest.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/components.hpp"
#include "tools/doctor/pci.hpp"

namespace hbf::tools::doctor {
namespace {

constexpr const char *accelerator_word = "accelerator";

void driver(Look &look) {
    const auto devices = accelerators(look);
    if (!any(look, devices, accelerator_word)) return;
    for (const Pci &pci : devices) {
        look.seen(look.full(pci.path + "/driver"), pci.driver.empty() ? "(none)" : pci.driver);
        if (pci.driver.empty())
            look.warn(pci.name() + " has no driver");
        else if (pci.driver.starts_with("vfio") || pci.driver == "pci-stub")
            look.warn(fmt::format("{} is set aside for a guest ({})", pci.name(), pci.driver));
        else
            look.pass(fmt::format("{} is driven by {}", pci.name(), pci.driver));
    }
}

// "libcuda.so.580.142" belongs to the driver 580.142 and to no other.
void library(Look &look) {
    const auto devices = accelerators(look);
    if (!any(look, devices, accelerator_word)) return;
    for (const Vendor &vendor : vendors()) {
        if (vendor.soname.empty() ||
            std::none_of(devices.begin(), devices.end(), [&](const Pci &pci) { return pci.vendor == vendor.pci; }))
            continue;
        std::string driver_version;
        for (const Installed &one : installed(look, vendor.pci, "driver")) driver_version = one.version;
        std::vector<std::string> libraries;
        for (const char *folder : {"usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib"})
            for (const std::string &name : look.entries(folder))
                if (name.starts_with(vendor.soname) && name.find('.', vendor.soname.size()) != std::string::npos) {
                    libraries.push_back(name.substr(vendor.soname.size()));
                    look.seen(look.full(std::string(folder) + "/" + name), "version " + libraries.back());
                }
        if (driver_version.empty())
            look.cannot_tell(fmt::format("{}: the kernel driver's version is not known", vendor.name));
        else if (libraries.empty())
            look.cannot_tell(
                fmt::format("{}: its library {}VERSION is in none of the usual folders", vendor.name, vendor.soname));
        for (const std::string &version : libraries) {
            if (driver_version.empty()) break;
            if (version == driver_version)
                look.pass(fmt::format("{}: library and kernel driver are both {}", vendor.name, version));
            else
                look.fail(
                    fmt::format("{}: library {} does not belong to kernel driver {}", vendor.name, version, driver_version));
        }
        return;
    }
    look.not_applicable("no library here is bound to one version of its kernel driver");
}

bool of_vendor(const Pci &pci, std::string_view name) {
    const Vendor *vendor = vendor_of(pci.vendor);
    return vendor && vendor->name == name;
}

void flavour(Look &look) {
    auto devices = accelerators(look);
    std::erase_if(devices, [](const Pci &pci) { return !of_vendor(pci, "NVIDIA"); });
    if (!any(look, devices, "device whose driver comes in two kinds")) return;
    const auto drivers = installed(look, devices.front().vendor, "driver");
    if (drivers.empty()) return look.cannot_tell("the kernel driver's kind is not known");
    const std::string file = "proc/driver/nvidia/params"; // "NVreg_name: value" lines
    const auto parameters = look.need_text(file);
    if (!parameters) return;
    for (const std::string_view line : host::lines(*parameters))
        if (line.find(": ") == std::string_view::npos) return look.garbled(file, "names with values");
    if (parameters->empty()) return look.garbled(file, "names with values");
    for (const Installed &one : drivers) look.pass(fmt::format("kernel driver {} {}", one.component->id, one.version));
}

// Switches between the devices need a service that sets them up; whether it runs is seen by a call of the runtime only.
void fabric(Look &look) {
    auto switches = pci_devices(look);
    std::erase_if(switches, [](const Pci &pci) { return pci.base_and_sub() != 0x0680 || !of_vendor(pci, "NVIDIA"); });
    if (!any(look, switches, "switch between devices that needs a service")) return;
    look.cannot_tell(
        fmt::format("{} switches need the fabric manager: systemctl status nvidia-fabricmanager", switches.size()));
}

void links(Look &look) {
    const auto devices = accelerators(look);
    if (devices.size() < 2) return look.not_applicable("this machine has no two accelerators");
    for (const Vendor &vendor : vendors()) {
        const auto count =
            std::count_if(devices.begin(), devices.end(), [&](const Pci &pci) { return pci.vendor == vendor.pci; });
        if (count >= 2)
            look.cannot_tell(fmt::format("state of {} between {} devices: {}", vendor.links, count, vendor.links_tell));
    }
    if (std::none_of(devices.begin(), devices.end(), [](const Pci &pci) { return vendor_of(pci.vendor) != nullptr; }))
        look.cannot_tell("links of devices of this maker are not known");
}

void partition(Look &look) {
    const auto devices = accelerators(look);
    if (!any(look, devices, accelerator_word)) return;
    for (const Pci &pci : devices) {
        const std::string memory = pci.path + "/current_memory_partition", compute = pci.path + "/current_compute_partition";
        if (look.exists(memory, Look::Show::no)) {
            const auto nps = look.need_word(memory, {"NPS1", "NPS2", "NPS4", "NPS8"});
            const auto mode = look.need_word(compute, {"SPX", "DPX", "TPX", "QPX", "CPX"});
            if (!nps || !mode) continue;
            if (*nps == "NPS1" && *mode == "SPX")
                look.pass(pci.name() + " is one device with one memory");
            else
                look.warn(fmt::format("{} is divided: memory {}, compute {}", pci.name(), *nps, *mode));
            continue;
        }
        // Parts that exist show here; the mode without parts does not.
        bool divided = false;
        for (const std::string &gpu : look.entries("proc/driver/nvidia/capabilities"))
            for (const std::string &part : look.entries("proc/driver/nvidia/capabilities/" + gpu + "/mig"))
                divided |= gpu.starts_with("gpu") && part.starts_with("gi");
        const Vendor *vendor = vendor_of(pci.vendor);
        if (divided && of_vendor(pci, "NVIDIA"))
            look.warn("devices are divided into instances (MIG)");
        else
            look.cannot_tell(
                fmt::format("{}: {}", pci.name(), vendor ? vendor->partition_tell : std::string_view("its maker's tool")));
    }
}

void sharing(Look &look) {
    auto devices = accelerators(look);
    std::erase_if(devices, [](const Pci &pci) { return !of_vendor(pci, "NVIDIA"); });
    if (!any(look, devices, "device that a server can share out (MPS)")) return;
    if (look.exists("tmp/nvidia-mps/control")) return look.warn("a server shares the devices out (MPS)");
    look.cannot_tell("no server at its usual place; elsewhere it shows in: ps -C nvidia-cuda-mps-server");
}

void confidential(Look &look) {
    auto devices = accelerators(look);
    std::erase_if(devices, [](const Pci &pci) { return !of_vendor(pci, "NVIDIA"); });
    if (!any(look, devices, "device with a confidential mode")) return;
    look.cannot_tell("whether memory is encrypted for a guest is told by a call only: nvidia-smi conf-compute -f");
}

constexpr std::array checks = {
    Check{"accelerator.driver", "every accelerator has its driver", "sys/bus/pci/devices/*/driver",
          "a device without a driver has no plugin", "load its kernel module; look at the kernel's log for why it is not",
          driver},
    Check{"accelerator.driver_library", "library and kernel driver belong together",
          "proc/driver/nvidia/version, names in usr/lib*",
          "a library of another version refuses to work, or a program finds the wrong one first",
          "install both of one version, and load the kernel module anew (or reboot)", library},
    Check{"accelerator.driver_kind", "the kernel driver's kind is known", "proc/driver/nvidia/version, params",
          "open and closed kernel modules of the same version have different faults",
          "note which one a result was made with", flavour},
    Check{"accelerator.fabric", "switches between devices are set up", "sys/bus/pci/devices (class 0680)",
          "without their service devices neither reach each other nor start (error 802)",
          "start the fabric manager of the driver's own version", fabric},
    Check{"accelerator.links", "all links between accelerators are up", "sys/bus/pci/devices",
          "one link that is down slows transfers, and breaks protocols that rely on wide stores staying whole",
          "look at state and error counts of every link with the maker's tool; seat bridges again", links},
    Check{"accelerator.partition", "accelerators are not divided",
          "sys/bus/pci/devices/*/current_memory_partition, current_compute_partition, proc/driver/nvidia/capabilities",
          "parts have less memory, cache and bandwidth, and lie nearer or farther",
          "switch the division off, or measure each part by itself", partition},
    Check{"accelerator.sharing", "no server shares the accelerators", "tmp/nvidia-mps/control",
          "under a server, limits such as the part of the cache that is set aside can be changed by it only",
          "stop the server for measurements (echo quit | nvidia-cuda-mps-control)", sharing},
    Check{"accelerator.confidential", "memory is not encrypted for a guest", "sys/bus/pci/devices",
          "in confidential mode devices do not reach each other, and every copy goes through a bounce buffer",
          "measure outside of confidential mode, or expect staging", confidential},
};

} // namespace

std::span<const Check> accelerator_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
