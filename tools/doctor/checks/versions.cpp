// SPDX-License-Identifier: Apache-2.0
// Versions compared with the list of those that are known to be bad.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/common/version_range.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/components.hpp"
#include "tools/doctor/cxl.hpp"
#include "tools/doctor/kernel_facts.hpp"
#include "tools/doctor/pci.hpp"

namespace hbf::tools::doctor {
namespace {

// False, and a doubt, if there is no list: then no version may pass.
bool listed(Look &look) {
    if (!look.known_bad().error.empty()) look.cannot_tell("no list of bad versions: " + look.known_bad().error);
    return look.known_bad().error.empty();
}

void say_bad(Look &look, const BadVersion &bad, const std::string &what) {
    look.seen(bad.id, fmt::format("{} in {}: {}", bad.versions, look.known_bad().file, bad.source));
    if (bad.proven)
        look.say(bad.verdict, fmt::format("{}: {} ({})", what, bad.symptom, bad.source));
    else
        look.warn(fmt::format("{}: unconfirmed: run hbf corruption. {} ({})", what, bad.symptom, bad.source));
    look.fix("hbf corruption", "nothing; measures how far errors in moved bytes can be ruled out");
    look.fix("# " + bad.remedy, "as the entry " + bad.id + " says");
}

// Every entry that matches is said; otherwise a pass.
void judge(Look &look, std::string_view component, const std::string &version, uint64_t devices) {
    const std::string what = fmt::format("{} {}", component, version);
    bool good = true;
    for (const BadVersion &bad : look.known_bad().entries) {
        if (bad.component != component || bad.devices > devices || !version_in_range(bad.versions, version)) continue;
        say_bad(look, bad, what);
        good = false;
    }
    if (good) look.pass(what + " is not on the list");
}

void kernel(Look &look) {
    if (!listed(look)) return;
    if (const auto version = kernel_version(look)) judge(look, "kernel", *version, 0);
}

void vendor_versions(Look &look, std::string_view kind) {
    if (!listed(look)) return;
    std::map<uint16_t, uint64_t> count;
    for (const Pci &pci : accelerators(look)) ++count[pci.vendor];
    if (count.empty()) return look.not_applicable("this machine has no accelerator");
    for (const auto &[number, devices] : count) {
        const Vendor *vendor = vendor_of(number);
        const auto found = installed(look, number, kind);
        for (const Installed &one : found) judge(look, one.component->id, one.version, devices);
        if (!found.empty()) continue;
        look.cannot_tell(fmt::format("{}: no {} with a version is in the places that are looked at",
                                     vendor ? vendor->name : std::string_view("unknown maker"), kind));
    }
}

void drivers(Look &look) {
    vendor_versions(look, "driver");
}

void runtimes(Look &look) {
    vendor_versions(look, "runtime");
}

void firmware(Look &look) {
    if (!listed(look)) return;
    const std::string folder = "sys/class/nvme";
    const auto controllers = numbered(look, folder, "nvme");
    if (controllers.empty()) return look.not_applicable("this machine has no NVMe drive");
    for (const std::string &name : controllers) {
        const auto model = look.need_text(below(folder, name, "model")),
                   version = look.need_text(below(folder, name, "firmware_rev"));
        if (!model || !version) continue;
        if (model->empty() || version->empty() || version->size() > 8 ||
            model->size() > 40) { // their fields in the drive's own answer
            look.garbled(folder + "/" + name + (version->empty() || version->size() > 8 ? "/firmware_rev" : "/model"),
                         "a name as drives have it");
            continue;
        }
        bool good = true;
        for (const BadVersion &bad : look.known_bad().entries) {
            if (bad.component != "nvme-firmware" || !model->starts_with(bad.model) || bad.versions != *version) continue;
            say_bad(look, bad, fmt::format("{}: {} with firmware {}", name, *model, *version));
            good = false;
        }
        if (good) look.pass(fmt::format("{}: firmware {} is not on the list", name, *version));
    }
}

constexpr const char *why = "some versions change or lose data without an error; the list names a source for each";

constexpr std::array checks = {
    Check{"versions.kernel", "the kernel is not known to be bad", "proc/sys/kernel/osrelease, proc/version, known_bad.toml",
          why, "update to a version that the entry's remedy names", kernel},
    Check{"versions.driver", "no driver is known to be bad",
          "proc/driver/nvidia/version, sys/module/amdgpu/version, known_bad.toml", why,
          "use another version; where an entry is unconfirmed: run hbf corruption", drivers},
    Check{"versions.runtime", "no runtime is known to be bad",
          "usr/local/cuda*/version.json, opt/rocm*/.info/version, known_bad.toml", why,
          "use another version; where an entry is unconfirmed: run hbf corruption. Runtimes inside of containers and Python "
          "environments are not looked for",
          runtimes},
    Check{"versions.firmware", "no drive's firmware is known to be bad",
          "sys/class/nvme/nvme*/{model,firmware_rev}, known_bad.toml", why,
          "update the drive's firmware with its maker's tool or fwupdmgr", firmware},
};

} // namespace

std::span<const Check> version_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
