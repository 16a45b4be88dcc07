// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/health/health.hpp"

#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hbf/sdk/text.hpp"

namespace hbf::nvidia {
namespace {

constexpr const char *library = "libnvidia-ml.so.1";

template <class F>
bool take(void *handle, const char *name, F &out) {
    out = reinterpret_cast<F>(::dlsym(handle, name));
    return out != nullptr;
}

nvml::Functions load() {
    void *const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *const why = ::dlerror();
        sdk::fail(HBF_UNAVAILABLE, fmt::format("{} cannot be opened: {}", library, why ? why : "no reason given"));
    }
    nvml::Functions table;
    take(handle, "nvmlErrorString", table.ErrorString);
    take(handle, "nvmlSystemGetDriverVersion", table.SystemGetDriverVersion);
    if (!take(handle, "nvmlInit_v2", table.Init_v2))
        sdk::fail(HBF_UNAVAILABLE, fmt::format("{} has no nvmlInit_v2: it is older than this plugin", library));
#define HBF_NVML_TAKE(name, parameters) take(handle, "nvml" #name, table.name);
    HBF_NVML_FUNCTIONS(HBF_NVML_TAKE)
#undef HBF_NVML_TAKE
    if (const nvml::Result code = table.Init_v2(); code != 0)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("nvmlInit_v2: {} ({})", table.ErrorString ? table.ErrorString(code) : "an error", code));
    return table;
}

class Readings {
public:
    void add(hbf_reading_kind kind, const std::string &name, uint64_t value, const char *unit) {
        hbf_reading &reading = list_.emplace_back();
        reading.struct_size = sizeof reading;
        reading.kind = kind;
        reading.value = value;
        sdk::set_text(reading.name, name);
        sdk::set_text(reading.unit, unit);
    }
    // What is not answered is not told.
    template <class Value, class Function, class... Arguments>
    void ask(hbf_reading_kind kind, const std::string &name, const char *unit, Function function, Arguments... arguments) {
        Value value{};
        if (function && function(arguments..., &value) == 0) add(kind, name, static_cast<uint64_t>(value), unit);
    }
    std::vector<hbf_reading> list_;
};

} // namespace

const nvml::Functions &nvml_functions() {
    static std::mutex mutex;
    static const nvml::Functions *loaded = nullptr; // not destructed: a process may exit while instances live
    const std::lock_guard lock(mutex);
    if (!loaded) loaded = new nvml::Functions(load());
    return *loaded;
}

std::vector<hbf_reading> NvmlHealth::read() {
    Readings out;
    constexpr auto counter = HBF_READING_COUNTER, gauge = HBF_READING_GAUGE;
    using Count = unsigned long long;
    const auto ecc = nvml_.DeviceGetTotalEccErrors;
    out.ask<Count>(counter, "ecc.corrected", "errors", ecc, device_, nvml::error_corrected, nvml::since_reset);
    out.ask<Count>(counter, "ecc.uncorrected", "errors", ecc, device_, nvml::error_uncorrected, nvml::since_reset);
    out.ask<Count>(counter, "ecc.corrected_ever", "errors", ecc, device_, nvml::error_corrected, nvml::ever);
    out.ask<Count>(counter, "ecc.uncorrected_ever", "errors", ecc, device_, nvml::error_uncorrected, nvml::ever);
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (nvml_.DeviceGetRemappedRows &&
        nvml_.DeviceGetRemappedRows(device_, &corrected, &uncorrected, &pending, &failed) == 0) {
        out.add(counter, "rows.remapped_corrected", corrected, "rows");
        out.add(counter, "rows.remapped_uncorrected", uncorrected, "rows");
        out.add(gauge, "rows.remapping_pending", pending, "");
        out.add(gauge, "rows.remapping_failed", failed, "");
    }
    out.ask<int>(gauge, "pages.retirement_pending", "", nvml_.DeviceGetRetiredPagesPendingStatus, device_);
    for (unsigned link = 0; link < nvml::most_links; ++link) {
        int active = 0;
        if (!nvml_.DeviceGetNvLinkState || nvml_.DeviceGetNvLinkState(device_, link, &active) != 0) continue;
        const std::string name = fmt::format("nvlink{}", link);
        out.add(gauge, name + ".active", static_cast<uint64_t>(active), "");
        const auto errors = nvml_.DeviceGetNvLinkErrorCounter;
        out.ask<Count>(counter, name + ".replays", "errors", errors, device_, link, nvml::nvlink_replay);
        out.ask<Count>(counter, name + ".recoveries", "errors", errors, device_, link, nvml::nvlink_recovery);
        out.ask<Count>(counter, name + ".crc_flits", "errors", errors, device_, link, nvml::nvlink_crc_flit);
    }
    out.ask<unsigned>(counter, "pcie.replays", "errors", nvml_.DeviceGetPcieReplayCounter, device_);
    out.ask<unsigned>(gauge, "pcie.generation", "", nvml_.DeviceGetCurrPcieLinkGeneration, device_);
    out.ask<unsigned>(gauge, "pcie.generation_most", "", nvml_.DeviceGetMaxPcieLinkGeneration, device_);
    out.ask<unsigned>(gauge, "pcie.width", "lanes", nvml_.DeviceGetCurrPcieLinkWidth, device_);
    out.ask<unsigned>(gauge, "pcie.width_most", "lanes", nvml_.DeviceGetMaxPcieLinkWidth, device_);
    out.ask<unsigned>(gauge, "temperature", "celsius", nvml_.DeviceGetTemperature, device_, nvml::temperature_gpu);
    out.ask<unsigned>(gauge, "clock.sm", "MHz", nvml_.DeviceGetClockInfo, device_, nvml::clock_sm);
    out.ask<unsigned>(gauge, "clock.memory", "MHz", nvml_.DeviceGetClockInfo, device_, nvml::clock_memory);
    out.ask<Count>(gauge, "clock.throttle_reasons", "bits", nvml_.DeviceGetCurrentClocksThrottleReasons, device_);
    return std::move(out.list_);
}

bool NvmlHealth::mig() const {
    unsigned current = 0, pending = 0;
    return nvml_.DeviceGetMigMode && nvml_.DeviceGetMigMode(device_, &current, &pending) == 0 && current == 1;
}

std::unique_ptr<NvmlHealth> open_health(const std::string &pci_address, const sdk::Log &log) {
    try {
        const nvml::Functions &nvml = nvml_functions();
        if (!nvml.DeviceGetHandleByPciBusId_v2) sdk::fail(HBF_UNAVAILABLE, "nvmlDeviceGetHandleByPciBusId_v2 is missing");
        nvml::Device device = nullptr;
        if (const nvml::Result code = nvml.DeviceGetHandleByPciBusId_v2(pci_address.c_str(), &device); code != 0)
            sdk::fail(HBF_UNAVAILABLE, fmt::format("nvmlDeviceGetHandleByPciBusId_v2({}): {} ({})", pci_address,
                                                   nvml.ErrorString ? nvml.ErrorString(code) : "an error", code));
        return std::make_unique<NvmlHealth>(nvml, device);
    } catch (const sdk::Failure &why) {
        log.warning(fmt::format("no health of {}: {}", pci_address, why.message));
        return nullptr;
    }
}

std::string driver_release() {
    try {
        char text[96] = {};
        const nvml::Functions &nvml = nvml_functions();
        if (nvml.SystemGetDriverVersion && nvml.SystemGetDriverVersion(text, sizeof text - 1) == 0) return text;
    } catch (const sdk::Failure &) { // then CUDA's version is all there is to say
    }
    return "";
}

} // namespace hbf::nvidia
