// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/discovery.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "hbf/sdk/text.hpp"
#include "plugins/nvidia/errors.hpp"
#include "plugins/nvidia/installed.hpp"
#include "plugins/stream/child.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif

namespace hbf::nvidia {
namespace {

// A host gives a probe ten seconds.
constexpr std::chrono::milliseconds limit{8000};

struct Kept {
    std::mutex mutex;
    std::optional<Survey> survey;
};
// Never destroyed: a process may exit while instances live.
Kept &kept() {
    static Kept *const one = new Kept;
    return *one;
}

Found found_of(const Driver &cuda, const DeviceFacts &facts, const std::string &root) {
    Found found;
    found.ordinal = facts.ordinal;
    sdk::set_text(found.uuid, facts.uuid);
    hbf_device_info &info = found.info;
    info.struct_size = sizeof info;
    info.reality = facts.emulated() ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
    info.numa_node = numa_node(root, facts.pci_address);
    sdk::set_text(info.id, "gpu-" + (facts.pci_address.empty() ? facts.uuid : facts.pci_address));
    sdk::set_text(info.name, facts.name);
    sdk::set_text(info.driver, fmt::format("CUDA {}.{}", cuda.version / 1000, cuda.version % 1000 / 10));
    sdk::set_text(info.pci_address, facts.pci_address);
    return found;
}

// Instances of one card (MIG) share its address.
void make_ids_unique(std::vector<Found> &devices) {
    for (size_t i = 0; i < devices.size(); ++i) {
        const std::string id = devices[i].info.id;
        const auto same = [&](const Found &one) { return id == one.info.id; };
        if (std::count_if(devices.begin(), devices.end(), same) < 2) continue;
        for (Found &one : devices)
            if (same(one)) sdk::set_text(one.info.id, fmt::format("{:.24}-{:.36}", id, one.uuid));
    }
}

// "" or why nobody may use it.
std::string trouble(const DeviceFacts &facts) {
    constexpr int prohibited = 2;
    if (facts.compute_mode == prohibited) return "its compute mode is Prohibited; remedy: nvidia-smi -c DEFAULT, as root";
    if (!facts.unified_addressing) return "it has no unified addressing (CU_DEVICE_ATTRIBUTE 41), which HBF relies on";
    return "";
}

// A text of plain bytes, for the pipe: the counts, the devices, the troubles, each ended by a 0.
std::string packed(const Survey &survey) {
    std::string out(reinterpret_cast<const char *>(survey.devices.data()), survey.devices.size() * sizeof(Found));
    for (const std::string &text : survey.troubles) out += text + '\0';
    return fmt::format("{} ", survey.devices.size()) + out;
}

Survey unpacked(const std::string &text) {
    Survey out;
    out.devices.resize(std::stoul(text));
    size_t at = text.find(' ') + 1;
    if (text.size() - at < out.devices.size() * sizeof(Found)) sdk::fail(HBF_INTERNAL, "the driver's answer is cut off");
    if (!out.devices.empty()) std::memcpy(out.devices.data(), text.data() + at, out.devices.size() * sizeof(Found));
    at += out.devices.size() * sizeof(Found);
    for (size_t end = 0; (end = text.find('\0', at)) != std::string::npos; at = end + 1)
        out.troubles.push_back(text.substr(at, end - at));
    return out;
}

constexpr const char *not_after_fork = "initialised before the fork";

Survey ask(const Driver &cuda, const std::string &root) {
#ifdef HBF_NO_THREADS_AFTER_FORK
    return ask_here(cuda, root); // that sanitizer ends a child of a process with threads when it starts one of its own
#else
    const stream::ChildAnswer answer = stream::ask_in_child(
        [&]() -> std::string {
            // A driver that the program has started itself does not work in a child; here it does, and starts nothing.
            if (cuda.Init(0) == cuda::not_initialized) return not_after_fork;
            return packed(ask_here(cuda, root));
        },
        limit);
    if (!answer.whole)
        sdk::fail(
            HBF_UNAVAILABLE,
            fmt::format("no_device: the CUDA driver {} {} when it was asked for its devices; remedy: look at dmesg for "
                        "Xid and NVRM{}",
                        driver_library, answer.late ? answer.end : "crashed (" + answer.end + ")",
                        answer.late ? ", and keep the driver loaded (nvidia-persistenced)" : ""));
    return answer.told == not_after_fork ? ask_here(cuda, root) : unpacked(answer.told);
#endif
}

// A node that is there and may not be opened: the driver then says that there is no device.
std::string closed_node(const std::string &root) {
    for (const char *node : {"dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia0"}) {
        const std::string path = (root.empty() ? "/" : root + "/") + node;
        if (::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), R_OK | W_OK) != 0 && errno == EACCES) return path;
    }
    return "";
}

// No device, though there is a driver: as far as anybody knows more.
sdk::Failure no_device_failure(const std::string &said, const std::string &root) {
    const char *const mask = std::getenv("CUDA_VISIBLE_DEVICES");
    const std::string known = known_to_nvml(), held = held_elsewhere(root);
    const bool instances = known.find("(MIG") != std::string::npos;
    std::string why = mask ? fmt::format("none that CUDA_VISIBLE_DEVICES=\"{}\" admits ({})", mask, said)
                           : fmt::format("the driver finds none ({})", said);
    if (!known.empty()) why += "; NVML knows " + known;
    if (!held.empty()) why += "; " + held;
    if (instances && !mask)
        why += "; remedy: make instances (nvidia-smi mig -cgi ... -C), or nvidia-smi -mig 0, as root";
    else if (mask)
        why += fmt::format("; remedy: unset it, or name a device by its number or UUID{}, before all that is not there",
                           instances ? ", an instance by MIG-<UUID> (nvidia-smi -L)" : "");
    else if (!held.empty())
        why += "; remedy: bind it to nvidia's driver";
    else
        why += "; remedy: lspci -d 10de:, and dmesg for NVRM";
    return {HBF_UNAVAILABLE, "no_device: " + why};
}

// What is wrong with the MPS server; its pipe tells which server a program speaks to.
sdk::Failure mps_failure(cuda::Result code, const std::string &said) {
    const char *const pipe = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
    const std::string where = pipe ? fmt::format("CUDA_MPS_PIPE_DIRECTORY={}", pipe) : "its usual pipe, /tmp/nvidia-mps";
    if (code == cuda::mps_clients || code == cuda::mps_connections)
        return {HBF_BUSY, fmt::format("device_busy: the MPS server ({}) has as many clients as it takes ({}); remedy: end "
                                      "one, or ask again",
                                      where, said)};
    return {HBF_UNAVAILABLE,
            fmt::format("no_device: the MPS server {} ({}: {}); remedy: restart it (nvidia-cuda-mps-control), or end it",
                        code == cuda::mps_not_ready ? "is not ready" : "does not answer", where, said)};
}

const Driver &driver_of(const std::string &root) {
    try {
        return driver();
    } catch (const sdk::Failure &failure) {
        throw open_failure(failure, root);
    }
}

} // namespace

sdk::Failure open_failure(sdk::Failure failure, const std::string &root) {
    const std::string release = module_release(root), held = held_elsewhere(root);
    if (!failure.message.starts_with("driver_absent")) return failure;
    if (!release.empty())
        failure.message += fmt::format("; the kernel's module of release {} is loaded: half of the driver is installed, and "
                                       "its libraries, of the same release, are what is missing",
                                       release);
    else if (!held.empty())
        failure.message += "; " + held;
    return failure;
}

sdk::Failure init_failure(const Driver &cuda, cuda::Result code, const std::string &root) {
    const std::string said = fmt::format("cuInit: {}", error_text(cuda, code));
    if (const std::string node = closed_node(root); !node.empty() && code != cuda::stub_library)
        return {HBF_PERMISSION,
                fmt::format("permission_denied: {} may not be opened by this user ({}); remedy: give it access, in a "
                            "container by the runtime's device options",
                            node, said)};
    switch (code) {
    case cuda::stub_library:
        return {HBF_UNAVAILABLE, fmt::format("driver_stub: {} is the build-time stub of the CUDA toolkit ({}); remedy: take "
                                             "its folder out of LD_LIBRARY_PATH, or install NVIDIA's driver",
                                             driver_library, said)};
    case cuda::no_device:
        return no_device_failure(said, root);
    case cuda::driver_mismatch: {
        const std::string release = module_release(root), file = file_of(driver_library);
        return {HBF_UNSUPPORTED,
                fmt::format("driver_too_old: the kernel's module{}{} and {} are of different releases ({}); remedy: reload "
                            "the module, or reboot, after an update; of two drivers that are installed, remove one",
                            release.empty() ? "" : ", ", release, file.empty() ? driver_library : file, said)};
    }
    case cuda::operating_system:
        return {HBF_PERMISSION,
                fmt::format("permission_denied: the kernel refuses the driver a call ({}); remedy: give this user, and in a "
                            "container its devices' control group, the nodes /dev/nvidia*",
                            said)};
    case cuda::compat_unsupported:
        return {HBF_UNSUPPORTED, fmt::format("driver_too_old: forward compatibility is not for this device ({}); remedy: "
                                             "take the cuda-compat folder out of LD_LIBRARY_PATH, or update the driver",
                                             said)};
    case cuda::system_not_ready:
        return {HBF_UNAVAILABLE,
                fmt::format("no_device: the NVSwitches are not set up ({}); remedy: start nvidia-fabricmanager "
                            "of the driver's release",
                            said)};
    case cuda::mps_failed:
    case cuda::mps_rpc:
    case cuda::mps_not_ready:
    case cuda::mps_clients:
    case cuda::mps_connections:
    case cuda::mps_terminated:
        return mps_failure(code, said);
    case cuda::device_unavailable:
        return {HBF_BUSY, fmt::format("device_busy: another process has it for itself ({}); remedy: end that one, or "
                                      "nvidia-smi -c DEFAULT, as root",
                                      said)};
    case cuda::unknown:
        return {HBF_UNAVAILABLE,
                fmt::format("no_device: {}; remedy: is the module nvidia-uvm loaded? (nvidia-modprobe -u)", said)};
    default:
        return {HBF_UNAVAILABLE, fmt::format("no_device: {}", said)};
    }
}

int numa_node(const std::string &root, const std::string &pci_address) {
    if (pci_address.empty()) return -1;
    std::ifstream in((root.empty() ? "/" : root + "/") + "sys/bus/pci/devices/" + pci_address + "/numa_node");
    int node = -1;
    return in >> node && node >= 0 ? node : -1;
}

Survey ask_here(const Driver &cuda, const std::string &root) {
    int count = 0;
    cuda::Result code = cuda.Init(0);
    if (code == cuda::success) code = cuda.DeviceGetCount(&count);
    if (code == cuda::success && count <= 0) code = cuda::no_device;
    if (code != cuda::success) throw init_failure(cuda, code, root);
    Survey out;
    for (int ordinal = 0; ordinal < std::min(count, 256); ++ordinal) {
        try {
            const DeviceFacts facts = read_facts(cuda, ordinal);
            const std::string why = trouble(facts);
            if (why.empty())
                out.devices.push_back(found_of(cuda, facts, root));
            else
                out.troubles.push_back(fmt::format("device {} ({}): {}", ordinal, facts.name, why));
        } catch (const sdk::Failure &failure) {
            out.troubles.push_back(fmt::format("device {}: {}", ordinal, failure.message));
        }
    }
    return out;
}

Survey survey(const std::string &root) {
    const std::string from = root == "/" ? "" : root;
    Kept &known = kept();
    const std::lock_guard lock(known.mutex);
    if (known.survey) return *known.survey;
    Survey found = ask(driver_of(from), from);
    // The driver is this machine's, or an emulated one made for that root: never for another machine's inventory.
    if (!from.empty())
        std::erase_if(found.devices, [&](const Found &one) {
            if (one.info.reality == HBF_REALITY_EMULATED) return false;
            found.troubles.push_back(
                fmt::format("{}: the system root {} is not this machine's, whose driver CUDA asks", one.info.name, root));
            return true;
        });
    make_ids_unique(found.devices);
    if (found.devices.empty()) sdk::fail(HBF_UNAVAILABLE, fmt::format("no_device: {}", fmt::join(found.troubles, "; ")));
    return found;
}

void keep(const Survey &found) {
    Kept &known = kept();
    const std::lock_guard lock(known.mutex);
    if (!known.survey) known.survey = found;
}

std::vector<Found> select(const Survey &all, const std::string &device) {
    if (device.empty()) return all.devices;
    const auto lower = [](std::string_view text) {
        std::string out(text);
        std::transform(out.begin(), out.end(), out.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return out;
    };
    const std::string wanted = lower(device);
    const bool number = std::all_of(wanted.begin(), wanted.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    std::vector<Found> out;
    std::string names;
    for (const Found &one : all.devices) {
        const bool fits = number ? wanted == std::to_string(one.ordinal)
                                 : wanted == one.info.id || wanted == one.info.pci_address || wanted == one.uuid ||
                                       wanted == std::string("gpu-") + one.uuid ||
                                       lower(one.info.name).find(wanted) != std::string::npos;
        if (fits) out.push_back(one);
        names += fmt::format("{}{} \"{}\" ({})", names.empty() ? "" : ", ", one.ordinal, one.info.id, one.info.name);
    }
    if (out.empty())
        sdk::fail(HBF_UNAVAILABLE, fmt::format("no_device: option device = \"{}\" fits none of {}", device, names));
    return out;
}

} // namespace hbf::nvidia
