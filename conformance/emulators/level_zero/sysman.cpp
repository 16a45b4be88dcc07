// SPDX-License-Identifier: Apache-2.0
// Sysman: what the device says of its own state. Handles of devices are those of the core API.
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "conformance/emulators/level_zero/driver.hpp"

namespace hbf::level_zero::ze {
struct SysMemoryObject {
    int device;
};
struct SysRasObject {
    int device;
    uint32_t type; // 0 correctable, 1 uncorrectable
};
struct SysTemperatureObject {
    int device;
    uint32_t type; // 1 GPU, 2 memory
};
} // namespace hbf::level_zero::ze

namespace hbf::emulated::l0 {
namespace {

using model::Counter;

// "ZES_ENABLE_SYSMAN": without it sysman is not there (specification 1.4, Sysman Programming Guide, Initialization).
bool enabled() {
    const char *const text = std::getenv("ZES_ENABLE_SYSMAN");
    return text && std::string_view(text) == "1";
}

// One for each device and kind, kept for good.
template <class Object>
Object *object(int device, uint32_t type, size_t types) {
    static std::vector<std::unique_ptr<Object>> *const all = [types] {
        auto *const made = new std::vector<std::unique_ptr<Object>>;
        for (int i = 0; i < machine().device_count(); ++i)
            for (uint32_t t = 0; t < types; ++t) {
                auto one = std::make_unique<Object>();
                one->device = i;
                if constexpr (requires { one->type; }) one->type = t;
                made->push_back(std::move(one));
            }
        return made;
    }();
    return (*all)[static_cast<size_t>(device) * types + type].get();
}

Result ready(const ze::DeviceObject *device) {
    if (!device) return ze::invalid_null_handle;
    if (!enabled()) return ze::uninitialized;
    return state_of(device->index);
}

ze::SysPciSpeed speed_of(int device) {
    const model::LinkState link = machine().host_link(device);
    return {static_cast<int32_t>(link.generation), static_cast<int32_t>(link.width), static_cast<int64_t>(link.bandwidth)};
}

} // namespace
} // namespace hbf::emulated::l0

using namespace hbf::emulated::l0;
using hbf::model::Counter;

HBF_ZE zesDeviceEnumMemoryModules(ze::Device device, uint32_t *count, ze::SysMemory *out) {
    if (const Result code = ready(device); code != ze::success) return code;
    return enumerate(count, out, 1, [&](uint32_t) { return object<ze::SysMemoryObject>(device->index, 0, 1); });
}

HBF_ZE zesMemoryGetState(ze::SysMemory memory, ze::SysMemState *out) {
    if (!memory) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    const hbf::model::Usage usage = machine().memory().usage(memory->device);
    out->health = device_of(memory->device).health().get(Counter::ecc_uncorrected) == 0 ? 1 : 3; // OK, CRITICAL
    out->free = usage.free, out->size = usage.total;
    return ze::success;
}

HBF_ZE zesDeviceEnumRasErrorSets(ze::Device device, uint32_t *count, ze::SysRas *out) {
    if (const Result code = ready(device); code != ze::success) return code;
    return enumerate(count, out, 2, [&](uint32_t i) { return object<ze::SysRasObject>(device->index, i, 2); });
}

HBF_ZE zesRasGetProperties(ze::SysRas set, ze::SysRasProperties *out) {
    if (!set) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    out->type = set->type, out->onSubdevice = 0, out->subdeviceId = 0;
    return ze::success;
}

// Errors of memory are among ZES_RAS_ERROR_CAT_NON_COMPUTE_ERRORS.
HBF_ZE zesRasGetState(ze::SysRas set, uint8_t clear, ze::SysRasState *out) {
    if (!set) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    const Counter counter = set->type == 0 ? Counter::ecc_corrected : Counter::ecc_uncorrected;
    hbf::model::Health &health = device_of(set->device).health();
    std::memset(out->category, 0, sizeof out->category);
    out->category[4] = health.get(counter);
    if (clear) health.set(counter, 0);
    return ze::success;
}

HBF_ZE zesDeviceEnumTemperatureSensors(ze::Device device, uint32_t *count, ze::SysTemperature *out) {
    if (const Result code = ready(device); code != ze::success) return code;
    return enumerate(count, out, 2, [&](uint32_t i) { return object<ze::SysTemperatureObject>(device->index, i, 2); });
}

HBF_ZE zesTemperatureGetProperties(ze::SysTemperature sensor, ze::SysTempProperties *out) {
    if (!sensor) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    const auto stype = out->stype;
    void *const next = out->pNext;
    *out = {};
    out->stype = stype, out->pNext = next;
    out->type = sensor->type + 1;
    return ze::success;
}

HBF_ZE zesTemperatureGetState(ze::SysTemperature sensor, double *out) {
    if (!sensor) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    const Counter counter = sensor->type == 0 ? Counter::temperature_c : Counter::memory_temperature_c;
    *out = static_cast<double>(device_of(sensor->device).health().get(counter));
    return ze::success;
}

HBF_ZE zesDevicePciGetState(ze::Device device, ze::SysPciState *out) {
    if (const Result code = ready(device); code != ze::success) return code;
    if (!out) return ze::invalid_null_pointer;
    const hbf::model::LinkState link = machine().host_link(device->index);
    const bool narrow = link.profile && link.width < link.profile->max_width;
    out->status = narrow ? 2 : 1;        // QUALITY_ISSUES, GOOD
    out->qualityIssues = narrow ? 2 : 0; // ZES_PCI_LINK_QUAL_ISSUE_FLAG_SPEED
    out->stabilityIssues = 0;
    out->speed = speed_of(device->index);
    return ze::success;
}

HBF_ZE zesDevicePciGetStats(ze::Device device, ze::SysPciStats *out) {
    if (const Result code = ready(device); code != ze::success) return code;
    if (!out) return ze::invalid_null_pointer;
    *out = {};
    out->timestamp = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
    out->replayCounter = device_of(device->index).health().get(Counter::pcie_replays);
    out->speed = speed_of(device->index);
    return ze::success;
}
