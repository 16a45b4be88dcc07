// SPDX-License-Identifier: Apache-2.0
#include "core/loader/trial.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "core/common/declared.hpp"
#include "core/common/printable.hpp"
#include "core/loader/text.hpp"
#include "hbf/abi/kernels.h"
#include "hbf/abi/queue.h"
#include "hbf/abi/tier.h"

namespace hbf::loader {
namespace {

constexpr uint32_t most_devices = 1024, most_tiers = 64, most_kernels = 4096;
constexpr size_t most_notes = 16;

hbf_string view(std::string_view text) {
    return {text.data(), text.size()};
}

// The caller's error buffer of one call.
class ErrorBuffer {
public:
    hbf_error *get() {
        error_ = {};
        error_.struct_size = sizeof error_;
        error_.message = text_.data();
        error_.capacity = text_.size();
        return &error_;
    }
    std::string message() const {
        const size_t size = std::min<uint64_t>(error_.length, text_.size());
        return size == 0 ? "no message" : printable({text_.data(), size});
    }

private:
    std::array<char, 1024> text_ = {};
    hbf_error error_ = {};
};

std::string describe(hbf_status status, const std::string &message) {
    return fmt::format("{}: {}", to_string(static_cast<Code>(status)), message);
}

void keep_log(void *context, hbf_log_level level, hbf_string message) HBF_NOEXCEPT {
    auto &notes = *static_cast<std::vector<std::string> *>(context);
    static std::mutex mutex; // a plugin may log from any of its threads
    const std::lock_guard guard(mutex);
    if (level >= HBF_LOG_WARNING && notes.size() < most_notes && message.data) {
        notes.push_back(printable({message.data, static_cast<size_t>(message.size)}));
    }
}

hbf_log_level lowest_kept(void *) HBF_NOEXCEPT {
    return HBF_LOG_WARNING;
}

// What every call of this probe is given.
struct Inputs {
    hbf_host_services services = {};
    std::vector<hbf_option> options;
    hbf_string root = {};

    Inputs(const ProbeRequest &request, ProbeRecord &record) {
        services.struct_size = sizeof services;
        services.context = &record.notes;
        services.log = keep_log;
        services.log_level = lowest_kept;
        for (const auto &[key, value] : request.options) options.push_back({view(key), view(value)});
        root = view(request.root);
    }
};

std::optional<Refusal> ask_for_devices(const hbf_plugin &plugin, const Inputs &inputs,
                                       std::vector<hbf_device_info> &devices) {
    hbf_probe_in in = {};
    in.struct_size = sizeof in;
    in.services = &inputs.services;
    in.options = inputs.options.data();
    in.option_count = static_cast<uint32_t>(inputs.options.size());
    in.system_root = inputs.root;
    for (uint32_t capacity = 16;;) {
        devices.assign(capacity, {});
        for (hbf_device_info &device : devices) device.struct_size = sizeof device;
        hbf_probe_out out = {};
        out.struct_size = sizeof out;
        out.devices = devices.data();
        out.device_capacity = capacity;
        out.device_stride = sizeof(hbf_device_info);
        ErrorBuffer error;
        const hbf_status status = plugin.probe(&in, &out, error.get());
        if (status != HBF_OK) return refusal_of_probe(status, error.message());
        if (out.device_count <= capacity) {
            devices.resize(out.device_count);
            return std::nullopt;
        }
        if (out.device_count > most_devices) {
            return Refusal{Reason::probe_failed, fmt::format("it says it found {} devices; {} is the most a host takes",
                                                             out.device_count, most_devices)};
        }
        if (capacity == most_devices) return Refusal{Reason::probe_failed, "the number of its devices does not settle"};
        capacity = out.device_count > capacity * 2 ? out.device_count : std::min(capacity * 2, most_devices);
    }
}

std::optional<Refusal> take_device(const hbf_device_info &info, const ProbeRequest &request,
                                   std::vector<ProbedDevice> &devices) {
    ProbedDevice device = device_declared(info);
    device.emulated |= request.emulation;
    if (device.id.size() == sizeof info.id || device.id.empty() || printable(device.id) != device.id) {
        return Refusal{Reason::probe_failed,
                       fmt::format("device {} has no usable id (\"{}\")", devices.size(), printable(device.id))};
    }
    const auto same = [&](const ProbedDevice &other) { return other.id == device.id; };
    if (std::any_of(devices.begin(), devices.end(), same)) {
        return Refusal{Reason::probe_failed, fmt::format("two of its devices have the id \"{}\"", device.id)};
    }
    devices.push_back(std::move(device));
    return std::nullopt;
}

std::optional<std::string> read_tiers(const hbf_plugin &plugin, hbf_instance *instance, ProbedDevice &device) {
    const auto *queue = static_cast<const hbf_queue_ext *>(plugin.get_extension(instance, view(HBF_EXT_QUEUE)));
    const auto *tiers = static_cast<const hbf_tier_ext *>(plugin.get_extension(instance, view(HBF_EXT_TIER)));
    if (!queue) return fmt::format("it offers no {}, without which no work can be given to it", HBF_EXT_QUEUE);
    if (!tiers) return fmt::format("it offers no {}, without which it has no memory", HBF_EXT_TIER);
    if (queue->struct_size < HBF_QUEUE_EXT_MIN_SIZE) return fmt::format("its {} table is too short", HBF_EXT_QUEUE);
    if (tiers->struct_size < HBF_TIER_EXT_MIN_SIZE || !tiers->describe)
        return fmt::format("its {} table is too short or lacks describe", HBF_EXT_TIER);
    if (tiers->tier_count == 0 || tiers->tier_count > most_tiers)
        return fmt::format("it says it has {} tiers; 1 to {} are possible", tiers->tier_count, most_tiers);
    for (uint32_t i = 0; i < tiers->tier_count; ++i) {
        hbf_tier_info info = unfilled_tier();
        ErrorBuffer error;
        if (const hbf_status status = tiers->describe(instance, i, &info, error.get()); status != HBF_OK) {
            return fmt::format("tier {} cannot be described: {}", i, describe(status, error.message()));
        }
        device.tiers.push_back(tier_declared(i, info, device.emulated));
    }
    return std::nullopt;
}

// Names only: nothing is built for it.
std::optional<std::string> read_kernels(const hbf_plugin &plugin, hbf_instance *instance, ProbedDevice &device) {
    const auto *kernels = static_cast<const hbf_kernels_ext *>(plugin.get_extension(instance, view(HBF_EXT_KERNELS)));
    if (!kernels) return std::nullopt;
    if (kernels->struct_size < HBF_KERNELS_EXT_MIN_SIZE || !kernels->name || !kernels->find)
        return fmt::format("its {} table is too short or lacks a function", HBF_EXT_KERNELS);
    if (kernels->kernel_count > most_kernels)
        return fmt::format("it says it has {} kernels; {} is the most", kernels->kernel_count, most_kernels);
    for (uint32_t i = 0; i < kernels->kernel_count; ++i) {
        hbf_string name{nullptr, 0};
        ErrorBuffer error;
        if (const hbf_status status = kernels->name(instance, i, &name, error.get()); status != HBF_OK)
            return fmt::format("kernel {} has no name: {}", i, describe(status, error.message()));
        if (!name.data || name.size == 0) return fmt::format("kernel {} has no name", i);
        device.kernels.push_back(printable({name.data, name.size}));
    }
    return std::nullopt;
}

std::optional<std::string> try_device(const hbf_plugin &plugin, const Inputs &inputs, const SayStep &say,
                                      ProbedDevice &device) {
    hbf_create_in in = {};
    in.struct_size = sizeof in;
    in.services = &inputs.services;
    in.options = inputs.options.data();
    in.option_count = static_cast<uint32_t>(inputs.options.size());
    in.device_id = view(device.id);
    in.system_root = inputs.root;
    hbf_instance *instance = nullptr;
    ErrorBuffer error;
    say(ProbeStep::create);
    const hbf_status status = plugin.create(&in, &instance, error.get());
    if (status != HBF_OK) return describe(status, error.message());
    if (!instance) return "create said ok and gave no instance";
    auto problem = read_tiers(plugin, instance, device);
    if (!problem) problem = read_kernels(plugin, instance, device);
    say(ProbeStep::destroy);
    plugin.destroy(instance);
    return problem;
}

} // namespace

Refusal refusal_of_probe(hbf_status status, std::string_view message) {
    if (status == HBF_UNAVAILABLE || status == HBF_UNSUPPORTED || status == HBF_PERMISSION || status == HBF_BUSY) {
        const auto word = reason_from(message.substr(0, message.find(':')));
        for (const Reason reason : {Reason::driver_absent, Reason::driver_stub, Reason::driver_too_old,
                                    Reason::permission_denied, Reason::no_device, Reason::device_busy}) {
            if (word != reason) continue;
            message.remove_prefix(std::min(message.size(), message.find(':') + 1));
            while (message.starts_with(' ')) message.remove_prefix(1);
            return {reason, std::string(message)};
        }
    }
    switch (status) {
    case HBF_UNAVAILABLE:
        return {Reason::no_device, std::string(message)};
    case HBF_UNSUPPORTED:
        return {Reason::driver_too_old, std::string(message)};
    case HBF_PERMISSION:
        return {Reason::permission_denied, std::string(message)};
    case HBF_BUSY:
        return {Reason::device_busy, std::string(message)};
    default:
        return {Reason::probe_failed, describe(status, std::string(message))};
    }
}

std::optional<Refusal> probe_and_try(const hbf_plugin &plugin, const ProbeRequest &request, const SayStep &say,
                                     ProbeRecord &record) {
    const Inputs inputs(request, record);
    std::vector<hbf_device_info> found;
    say(ProbeStep::probe);
    if (auto refusal = ask_for_devices(plugin, inputs, found)) return refusal;
    if (found.empty()) return Refusal{Reason::no_device, "it found no device and gave no reason"};
    for (const hbf_device_info &info : found) {
        if (auto refusal = take_device(info, request, record.devices)) return refusal;
    }
    std::string problems; // one device that does not open takes none of the others out
    bool serves = false;
    for (ProbedDevice &device : record.devices) {
        const auto problem = try_device(plugin, inputs, say, device);
        serves |= !problem;
        if (!problem) continue;
        device.reason = Reason::create_failed;
        device.detail = *problem;
        problems += fmt::format("{}device {} cannot be opened: {}", problems.empty() ? "" : "; ", device.id, *problem);
    }
    return serves ? std::nullopt : std::optional(Refusal{Reason::create_failed, problems});
}

} // namespace hbf::loader
