// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/discovery.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include "hbf/sdk/text.hpp"
#include "plugins/level_zero/errors.hpp"
#include "plugins/stream/child.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif

namespace hbf::level_zero {
namespace {

struct Kept {
    std::mutex mutex;
    std::optional<Survey> survey;
};
// Never destroyed: a process may exit while instances live.
Kept &kept() {
    static Kept *const one = new Kept;
    return *one;
}

std::string below(const std::string &root, const std::string &path) {
    return (root.empty() || root == "/" ? "" : root) + path;
}

int numa_node(const std::string &root, const std::string &pci_address) {
    std::ifstream in(below(root, "/sys/bus/pci/devices/" + pci_address + "/numa_node"));
    int node = -1;
    return !pci_address.empty() && in >> node && node >= 0 ? node : -1;
}

bool listed(const std::string &root, const std::string &pci_address) {
    return pci_address.empty() || ::access(below(root, "/sys/bus/pci/devices/" + pci_address).c_str(), F_OK) == 0;
}

// A render node that is there and may not be opened: the driver then says that there is no device.
std::string closed_node(const std::string &root) {
    glob_t found{};
    std::string closed;
    if (::glob(below(root, "/dev/dri/renderD*").c_str(), 0, nullptr, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && closed.empty(); ++i)
            if (::access(found.gl_pathv[i], R_OK | W_OK) != 0 && errno == EACCES) closed = found.gl_pathv[i];
    ::globfree(&found);
    return closed;
}

[[noreturn]] void start_failed(ze::Result code, const std::string &call, const std::string &root) {
    const std::string said = fmt::format("{}: {}", call, error_text(code));
    const std::string node = closed_node(root);
    if (!node.empty() || code == ze::insufficient_permissions)
        sdk::fail(HBF_PERMISSION,
                  fmt::format("permission_denied: {} may not be opened by this user ({}); remedy: add the user "
                              "to the group of the node (render)",
                              node.empty() ? "the device" : node, said));
    const char *const mask = std::getenv("ZE_AFFINITY_MASK");
    const std::string masked = mask ? fmt::format(", ZE_AFFINITY_MASK is \"{}\"", mask) : "";
    if (code == ze::uninitialized)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("driver_absent: {} finds no driver with a device ({}){}; remedy: install Intel's "
                              "driver (intel-level-zero-gpu), and look at lspci -d 8086:",
                              library_name, said, masked));
    if (code == ze::unsupported_version)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: the driver does not serve this loader ({}); remedy: take both "
                              "from one release",
                              said));
    sdk::fail(HBF_UNAVAILABLE, fmt::format("no_device: {}{}", said, masked));
}

// What a sentence of trouble has in it when it is of that kind.
constexpr const char *too_old = "1.0 is the least", *stub = "says yes to everything and does nothing";
constexpr uint32_t least_version = 1 << 16, most_major = 9; // 1.0; what is far beyond all that exist is nonsense

std::string version_text(uint32_t version) {
    return fmt::format("{}.{}", version >> 16, version & 0xffff);
}

// "" or why it cannot serve.
std::string trouble(const DeviceFacts &facts) {
    if (facts.api_version < least_version)
        return fmt::format("its driver serves Level Zero {}, {}: a newer driver", version_text(facts.api_version), too_old);
    if (facts.api_version >> 16 > most_major)
        return fmt::format("its driver says that it serves Level Zero {}, which does not exist: is it damaged?",
                           version_text(facts.api_version));
    // The loader's own null driver, for one (ZE_ENABLE_NULL_DRIVER).
    if (facts.memory == 0 && facts.most_items == 0 && facts.compute_group == no_group)
        return fmt::format("its driver {}: is it a stand-in (ZE_ENABLE_NULL_DRIVER, ZE_ENABLE_ALT_DRIVERS)?", stub);
    if (facts.type != ze::gpu) return "it is no GPU (ze_device_type_t " + std::to_string(facts.type) + ")";
    if (facts.memory == 0) return "it says that it has no memory (zeDeviceGetMemoryProperties)";
    if (facts.compute_group == no_group) return "it has no command queue group that computes and copies";
    return "";
}

Found found_of(const DeviceFacts &facts, uint32_t driver, uint32_t device, const std::string &root) {
    Found found;
    found.driver = driver, found.device = device;
    sdk::set_text(found.uuid, facts.uuid);
    hbf_device_info &info = found.info;
    info.struct_size = sizeof info;
    info.reality = facts.emulated() ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
    info.numa_node = numa_node(root, facts.pci_address);
    sdk::set_text(info.id, "gpu-" + (facts.pci_address.empty() ? facts.uuid : facts.pci_address));
    sdk::set_text(info.name, facts.name);
    sdk::set_text(info.driver,
                  fmt::format("Level Zero {}, driver {:#x}", version_text(facts.api_version), facts.driver_version));
    sdk::set_text(info.pci_address, facts.pci_address);
    return found;
}

std::vector<ze::Driver> drivers_of(const Functions &ze, const std::string &root) {
    // No flags: every driver, so that one without a GPU is named.
    if (const ze::Result code = ze.zeInit(0); code != ze::success) start_failed(code, "zeInit", root);
    uint32_t count = 0;
    if (const ze::Result code = ze.zeDriverGet(&count, nullptr); code != ze::success)
        start_failed(code, "zeDriverGet", root);
    std::vector<ze::Driver> drivers(std::min(count, 64u));
    count = static_cast<uint32_t>(drivers.size());
    if (count != 0) check(ze.zeDriverGet(&count, drivers.data()), "zeDriverGet");
    drivers.resize(std::min<size_t>(count, drivers.size()));
    return drivers;
}

std::vector<ze::Device> devices_of(const Functions &ze, ze::Driver driver) {
    uint32_t count = 0;
    check(ze.zeDeviceGet(driver, &count, nullptr), "zeDeviceGet");
    std::vector<ze::Device> devices(std::min(count, 256u));
    count = static_cast<uint32_t>(devices.size());
    if (count != 0) check(ze.zeDeviceGet(driver, &count, devices.data()), "zeDeviceGet");
    devices.resize(std::min<size_t>(count, devices.size()));
    return devices;
}

void ask_driver(const Functions &ze, ze::Driver driver, uint32_t number, const std::string &root, Survey &out) {
    std::vector<ze::Device> devices;
    try {
        devices = devices_of(ze, driver);
    } catch (const sdk::Failure &failure) {
        out.troubles.push_back(fmt::format("Level Zero driver {}: {}", number, failure.message));
        return;
    }
    for (uint32_t i = 0; i < devices.size(); ++i) {
        try {
            const DeviceFacts facts = read_facts(ze, driver, devices[i]);
            if (const std::string why = trouble(facts); !why.empty())
                out.troubles.push_back(
                    fmt::format("device {} ({}) of Level Zero driver {}: {}", i, facts.name, number, why));
            else
                out.devices.push_back(found_of(facts, number, i, root));
        } catch (const sdk::Failure &failure) {
            out.troubles.push_back(fmt::format("device {} of Level Zero driver {}: {}", i, number, failure.message));
        }
    }
}

Survey ask_here(const Functions &ze, const std::string &root) {
    const std::vector<ze::Driver> drivers = drivers_of(ze, root);
    Survey out;
    for (uint32_t i = 0; i < drivers.size(); ++i) ask_driver(ze, drivers[i], i, root, out);
    return out;
}

// A text of plain bytes, for the pipe: the count, the devices, the troubles, each ended by a 0.
std::string packed(const Survey &survey) {
    std::string out = fmt::format("{} ", survey.devices.size());
    out.append(reinterpret_cast<const char *>(survey.devices.data()), survey.devices.size() * sizeof(Found));
    for (const std::string &text : survey.troubles) out += text + '\0';
    return out;
}

Survey unpacked(const std::string &text) {
    Survey out;
    out.devices.resize(std::stoul(text));
    size_t at = text.find(' ') + 1;
    const size_t bytes = out.devices.size() * sizeof(Found);
    if (text.size() - at < bytes) sdk::fail(HBF_INTERNAL, "the answer of Level Zero's drivers is cut off");
    if (bytes != 0) std::memcpy(out.devices.data(), text.data() + at, bytes);
    at += bytes;
    for (size_t end = 0; (end = text.find('\0', at)) != std::string::npos; at = end + 1)
        out.troubles.push_back(text.substr(at, end - at));
    return out;
}

Survey ask(const Functions &ze, const std::string &root, [[maybe_unused]] std::chrono::milliseconds limit) {
#ifdef HBF_NO_THREADS_AFTER_FORK
    return ask_here(ze, root); // that sanitizer ends a child of a process with threads when it starts one of its own
#else
    const stream::ChildAnswer answer = stream::ask_in_child([&] { return packed(ask_here(ze, root)); }, limit);
    if (!answer.whole)
        sdk::fail(
            HBF_UNAVAILABLE,
            fmt::format("no_device: a Level Zero driver {} when it was asked for its devices; remedy: look at dmesg for "
                        "i915 and xe, and name one driver by ZE_ENABLE_ALT_DRIVERS",
                        answer.late ? answer.end : "crashed (" + answer.end + ")"));
    return unpacked(answer.told);
#endif
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

} // namespace

Survey survey(const std::string &root, std::chrono::milliseconds limit) {
    const std::string from = root == "/" ? "" : root;
    Kept &known = kept();
    const std::lock_guard lock(known.mutex);
    if (known.survey) return *known.survey;
    Survey found = ask(library(), from, limit);
    // The drivers are this machine's, or an emulated one made for that root: never for another machine's inventory.
    if (!from.empty())
        std::erase_if(found.devices, [&](const Found &one) {
            const bool emulated = one.info.reality == HBF_REALITY_EMULATED;
            if (emulated && listed(from, one.info.pci_address)) return false;
            found.troubles.push_back(
                emulated
                    ? fmt::format("{}: there is no {} below the system root {}", one.info.name, one.info.pci_address, root)
                    : fmt::format("{}: the system root {} is not this machine's, whose drivers Level Zero asks",
                                  one.info.name, root));
            return true;
        });
    if (!found.devices.empty()) return found;
    const std::string all = fmt::format("{}", fmt::join(found.troubles, "; "));
    if (all.empty()) sdk::fail(HBF_UNAVAILABLE, "no_device: Level Zero's drivers have none");
    const auto each_says = [&](const char *words) {
        return std::all_of(found.troubles.begin(), found.troubles.end(),
                           [&](const std::string &text) { return text.find(words) != std::string::npos; });
    };
    if (each_says(too_old)) sdk::fail(HBF_UNSUPPORTED, "driver_too_old: " + all);
    sdk::fail(HBF_UNAVAILABLE, (each_says(stub) ? "driver_stub: " : "no_device: ") + all);
}

std::vector<Found> select(const Survey &all, const std::string &device) {
    if (device.empty()) return all.devices;
    const std::string wanted = lower(device);
    const bool number = std::all_of(wanted.begin(), wanted.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    std::vector<Found> out;
    std::string names;
    for (size_t i = 0; i < all.devices.size(); ++i) {
        const Found &one = all.devices[i];
        const bool fits = number ? wanted == std::to_string(i)
                                 : wanted == one.info.id || wanted == one.info.pci_address || wanted == one.uuid ||
                                       lower(one.info.name).find(wanted) != std::string::npos;
        if (fits) out.push_back(one);
        names += fmt::format("{}{} \"{}\" ({})", names.empty() ? "" : ", ", i, one.info.id, one.info.name);
    }
    if (out.empty())
        sdk::fail(HBF_UNAVAILABLE, fmt::format("no_device: option device = \"{}\" fits none of {}", device, names));
    return out;
}

Opened open_device(const Functions &ze, const Found &found, const Survey &all, const std::string &root) {
    const std::vector<ze::Driver> drivers = drivers_of(ze, root);
    {
        Kept &known = kept();
        const std::lock_guard lock(known.mutex);
        if (!known.survey) known.survey = all;
    }
    if (found.driver < drivers.size()) {
        const std::vector<ze::Device> devices = devices_of(ze, drivers[found.driver]);
        if (found.device < devices.size()) {
            DeviceFacts facts = read_facts(ze, drivers[found.driver], devices[found.device]);
            if (facts.uuid == found.uuid) return {drivers[found.driver], devices[found.device], std::move(facts)};
        }
    }
    sdk::fail(HBF_UNAVAILABLE, fmt::format("Level Zero device \"{}\" is not there any more", found.info.id));
}

} // namespace hbf::level_zero
