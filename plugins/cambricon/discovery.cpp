// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/discovery.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hbf/sdk/text.hpp"
#include "plugins/cambricon/current_device.hpp"
#include "plugins/cambricon/errors.hpp"
#include "plugins/stream/child.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif

namespace hbf::cambricon {
namespace {

constexpr unsigned most_devices = 256;

std::string mask_text() {
    const char *const mask = std::getenv("MLU_VISIBLE_DEVICES");
    return mask ? fmt::format(" (MLU_VISIBLE_DEVICES is \"{:.64}\")", mask) : std::string();
}

[[noreturn]] void refuse_count(const Library &library, int code) {
    const std::string what = fmt::format("cnrtGetDeviceCount: {}", error_text(library.cnrt, code));
    switch (code) {
    case code::no_device:
        sdk::fail(HBF_UNAVAILABLE, "no_device: " + what + mask_text());
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
    info.reality = facts.emulated() ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
    info.numa_node = facts.numa_node;
    sdk::set_text(info.id, facts.pci_address.empty() ? fmt::format("mlu{}", facts.ordinal) : "mlu-" + facts.pci_address);
    sdk::set_text(info.name, facts.name);
    sdk::set_text(info.driver, facts.driver);
    sdk::set_text(info.pci_address, facts.pci_address);
    return info;
}

constexpr std::chrono::seconds limit(4);

// A text of plain bytes, for the pipe: the number of devices, these, the troubles, each ended by a 0.
std::string packed(const Survey &survey) {
    std::string out = fmt::format("{} ", survey.devices.size());
    for (const Found &found : survey.devices) out.append(reinterpret_cast<const char *>(&found.info), sizeof found.info);
    for (const std::string &text : survey.troubles) out += text + '\0';
    return out;
}

Look unpacked(const std::string &text) {
    Look out;
    out.devices.resize(std::stoul(text));
    size_t at = text.find(' ') + 1;
    const size_t bytes = out.devices.size() * sizeof(hbf_device_info);
    if (text.size() - at < bytes) sdk::fail(HBF_INTERNAL, "the answer of CNRT's process is cut off");
    if (bytes != 0) std::memcpy(out.devices.data(), text.data() + at, bytes);
    at += bytes;
    for (size_t end = 0; (end = text.find('\0', at)) != std::string::npos; at = end + 1)
        out.troubles.push_back(text.substr(at, end - at));
    return out;
}

bool asked_here() {
#ifdef HBF_NO_THREADS_AFTER_FORK
    return true; // that sanitizer ends a child of a process with threads when it starts one of its own
#else
    void *const handle = ::dlopen("libcnrt.so", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle) (void)::dlclose(handle); // the count only
    return handle != nullptr;
#endif
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

Look look(const std::string &system_root) {
    if (asked_here()) {
        Look out;
        Survey all = survey(system_root);
        for (const Found &found : all.devices) out.devices.push_back(found.info);
        out.troubles = std::move(all.troubles);
        return out;
    }
    const stream::ChildAnswer answer = stream::ask_in_child([&] { return packed(survey(system_root)); }, limit);
    if (!answer.whole)
        sdk::fail(HBF_INTERNAL,
                  fmt::format("CNRT {} when it was asked for its devices; remedy: look at dmesg for cambricon, and whether "
                              "cnmon answers",
                              answer.late ? answer.end : "crashed (" + answer.end + ")"));
    return unpacked(answer.told);
}

} // namespace hbf::cambricon
