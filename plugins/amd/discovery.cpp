// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/discovery.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/host/reader.hpp"
#include "hbf/sdk/text.hpp"
#include "plugins/amd/errors.hpp"
#include "plugins/stream/child.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif

namespace hbf::amd {
namespace {

constexpr int most_devices = 256;
constexpr std::chrono::milliseconds patience{8000}; // a host gives a probe ten seconds

// Set once a device was opened. Never destroyed: see library().
struct Kept {
    std::mutex mutex;
    std::optional<Survey> survey;
};
Kept &kept() {
    static Kept *const one = new Kept;
    return *one;
}

// HIP says of a kernel driver that is not there, may not be opened or has no device the same: no device.
[[noreturn]] void no_device(const std::string &root, const std::string &said) {
    const std::string node = (std::filesystem::path(root.empty() ? "/" : root) / "dev/kfd").string();
    const int fd = ::open(node.c_str(), O_RDWR | O_CLOEXEC);
    const int error = fd >= 0 ? 0 : errno;
    if (fd >= 0) ::close(fd);
    if (error == ENOENT || error == ENXIO || error == ENODEV)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("driver_absent: {}, and {}: {}: the amdgpu kernel driver has no compute device; remedy: load "
                              "it (modprobe amdgpu), or give a container /dev/kfd and /dev/dri",
                              said, node, std::strerror(error)));
    if (error == EACCES || error == EPERM)
        sdk::fail(
            HBF_PERMISSION,
            fmt::format("permission_denied: {}, and {} may not be opened: {}; remedy: add the user to the groups render "
                        "and video",
                        said, node, std::strerror(error)));
    std::string masks;
    for (const char *const name :
         {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"})
        if (const char *const value = std::getenv(name))
            masks += fmt::format("{}{}={}", masks.empty() ? "" : ", ", name, value);
    sdk::fail(HBF_UNAVAILABLE, masks.empty() ? fmt::format("no_device: {}", said)
                                             : fmt::format("no_device: {}; what hides devices: {}", said, masks));
}

std::string driver_text(const Hip &hip, const Library &from, int runtime) {
    int driver = 0;
    std::string text = fmt::format("HIP {} ({})", version_text(runtime), from.name);
    if (taken(hip.DriverGetVersion(&driver)) == code::success && driver > 0 && driver != runtime)
        text += fmt::format(", driver {}", version_text(driver));
    return text;
}

void check_init(const Hip &hip, const std::string &name, const std::string &root) {
    const Code code = hip.Init(0);
    if (code == code::success) return;
    (void)taken(code);
    const std::string said = fmt::format("{}: hipInit gives {}", name, error_text(code));
    if (code == code::no_device || code == code::invalid_device || code == code::not_permitted) no_device(root, said);
    if (code == code::not_supported)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("driver_stub: {}: a library for building only; remedy: install ROCm's HIP runtime", said));
    if (code == code::insufficient_driver)
        sdk::fail(HBF_UNSUPPORTED, fmt::format("driver_too_old: {}; remedy: a newer amdgpu kernel driver", said));
    sdk::fail(error_status(code), said);
}

// Partitions of one card (CPX, DPX) share its address.
void make_ids_unique(std::vector<Found> &devices) {
    for (size_t i = 0; i < devices.size(); ++i) {
        const std::string id = devices[i].info.id;
        int partition = 0;
        for (size_t j = i + 1; j < devices.size(); ++j)
            if (id == devices[j].info.id) sdk::set_text(devices[j].info.id, fmt::format("{:.50}-p{}", id, ++partition));
    }
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

// A child's answer: devices as they lie in memory, then a trouble a line.
std::string packed(const Survey &survey) {
    std::string out = fmt::format("{}\n", survey.devices.size());
    for (const Found &one : survey.devices) out.append(reinterpret_cast<const char *>(&one), sizeof one);
    for (const std::string &trouble : survey.troubles) out += trouble + "\n";
    return out;
}

Survey unpacked(const std::string &text) {
    Survey out;
    size_t at = text.find('\n') + 1;
    out.devices.resize(std::strtoul(text.c_str(), nullptr, 10));
    for (Found &one : out.devices) {
        std::memcpy(&one, text.data() + at, sizeof one);
        at += sizeof one;
    }
    while (at < text.size()) {
        const size_t end = text.find('\n', at);
        out.troubles.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

Survey ask(const std::string &root) {
#ifdef HBF_NO_THREADS_AFTER_FORK
    return ask_here(root); // that sanitizer ends a child of a process with threads when it starts one of its own
#else
    if (library_is_here()) return ask_here(root);
    const stream::ChildAnswer answer = stream::ask_in_child([&] { return packed(ask_here(root)); }, patience);
    if (answer.whole) return unpacked(answer.told);
    sdk::fail(
        HBF_INTERNAL,
        fmt::format("the HIP runtime {} when it was asked for its devices; remedy: see whether rocminfo ends, and what "
                    "the kernel's log (dmesg) says of amdgpu",
                    answer.late ? fmt::format("did not answer within {} s", patience.count() / 1000)
                                : "crashed (" + answer.end + ")"));
#endif
}

} // namespace

Survey ask_here(const std::string &root) {
    const Library &from = library();
    const Hip &hip = from.hip;
    check_init(hip, from.name, root);
    int runtime = 0, count = 0;
    check(hip.RuntimeGetVersion(&runtime), "hipRuntimeGetVersion");
    check_version(runtime, from);
    const Code code = hip.GetDeviceCount(&count);
    if (code == code::no_device || (code == code::success && count <= 0)) {
        (void)taken(code);
        no_device(root, fmt::format("{} finds no device", from.name));
    }
    check(code, "hipGetDeviceCount");
    const std::string driver = driver_text(hip, from, runtime);
    std::vector<std::string> problems;
    host::Reader reader(root.empty() ? "/" : root, problems);
    Survey out;
    for (int i = 0; i < std::min(count, most_devices); ++i) {
        try {
            const DeviceFacts facts = facts_of(hip, i);
            const std::filesystem::path place = "sys/bus/pci/devices/" + facts.pci_address;
            // A test's own machine: the runtime may be this one's all the same.
            if (!root.empty() && root != "/" && !reader.exists(place)) {
                out.troubles.push_back(fmt::format("HIP device {} ({}) at {} is not a device of the machine below {}", i,
                                                   facts.name, facts.pci_address, root));
                continue;
            }
            Found found;
            found.ordinal = i;
            hbf_device_info &info = found.info;
            info.struct_size = sizeof info;
            info.reality = facts.emulated() ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
            info.numa_node = reader.exists(place) ? reader.node(place / "numa_node") : -1;
            sdk::set_text(info.id, "gpu-" + facts.pci_address);
            sdk::set_text(info.name, facts.name);
            sdk::set_text(info.driver, driver);
            sdk::set_text(info.pci_address, facts.pci_address);
            out.devices.push_back(found);
        } catch (const sdk::Failure &failure) {
            out.troubles.push_back(fmt::format("HIP device {}: {}", i, failure.message));
        }
    }
    make_ids_unique(out.devices);
    if (out.devices.empty()) sdk::fail(HBF_UNAVAILABLE, fmt::format("no_device: {}", fmt::join(out.troubles, "; ")));
    return out;
}

Survey survey(const std::string &root) {
    Kept &known = kept();
    const std::lock_guard lock(known.mutex);
    if (!known.survey) return ask(root);
    return *known.survey;
}

std::vector<Found> select(const Survey &all, const std::string &device) {
    if (device.empty()) return all.devices;
    int number = 0;
    const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), number);
    const bool by_index = error == std::errc() && end == device.data() + device.size();
    std::vector<Found> out;
    std::string names;
    for (const Found &one : all.devices) {
        names += fmt::format("{}\"{}\" ({})", names.empty() ? "" : ", ", one.info.id, one.info.name);
        const bool fits = by_index ? number == one.ordinal
                                   : lower(one.info.id).find(lower(device)) != std::string::npos ||
                                         lower(one.info.name).find(lower(device)) != std::string::npos;
        if (fits) out.push_back(one);
    }
    if (out.empty())
        sdk::fail(HBF_UNAVAILABLE, fmt::format("no_device: option device = \"{}\" fits none of {}", device, names));
    return out;
}

DeviceFacts open_device(const Found &found, const Survey &all) {
    const Hip &hip = library().hip;
    check(hip.Init(0), "hipInit");
    {
        Kept &known = kept();
        const std::lock_guard lock(known.mutex);
        if (!known.survey) known.survey = all;
    }
    int count = 0;
    check(hip.GetDeviceCount(&count), "hipGetDeviceCount");
    DeviceFacts facts;
    if (found.ordinal < count) facts = facts_of(hip, found.ordinal);
    if (facts.pci_address != found.info.pci_address)
        sdk::fail(HBF_UNAVAILABLE, fmt::format("HIP device \"{}\" is not there any more", found.info.id));
    return facts;
}

} // namespace hbf::amd
