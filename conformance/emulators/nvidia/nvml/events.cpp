// SPDX-License-Identifier: Apache-2.0
// Reference, "Event Handling Methods": errors that come while somebody waits for them.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/emulators/nvidia/nvml/health.hpp"
#include "conformance/emulators/nvidia/nvml/library.hpp"

namespace hbf::emulated::nvml {

// What is watched, and how it was when it was last told.
struct EventSet {
    struct Watch {
        nvmlDevice_t device;
        unsigned long long types;
        uint64_t corrected, uncorrected;
        bool lost;
    };
    std::vector<Watch> watches;
    std::mutex mutex;
};

namespace {

// nvmlEventType*: single-bit and double-bit ECC errors, critical Xid.
constexpr unsigned long long single_bit = 0x1, double_bit = 0x2, critical = 0x8;
constexpr unsigned long long xid_double_bit = 48, xid_off_the_bus = 79;

std::mutex sets_mutex;
std::vector<EventSet *> &sets() {
    static auto &all = *new std::vector<EventSet *>;
    return all;
}
bool is_set(const EventSet *set) {
    std::lock_guard lock(sets_mutex);
    return std::find(sets().begin(), sets().end(), set) != sets().end();
}

// One event of the set, if there is one to tell.
bool next(EventSet &set, nvmlEventData_t &out) {
    std::lock_guard lock(set.mutex);
    for (EventSet::Watch &watch : set.watches) {
        model::Device &device = *watch.device->device;
        const auto tell = [&](unsigned long long type, unsigned long long data) {
            out = {watch.device, type, data, 0xffffffffu, 0xffffffffu}; // no instance of a divided device
            return true;
        };
        if (device.lost() && !watch.lost) {
            watch.lost = true;
            if (watch.types & critical) return tell(critical, xid_off_the_bus);
        }
        const uint64_t uncorrected = count_of(device, model::Counter::ecc_uncorrected);
        if (uncorrected > watch.uncorrected) {
            watch.uncorrected = uncorrected;
            if (watch.types & double_bit) return tell(double_bit, 0);
            if (watch.types & critical) return tell(critical, xid_double_bit);
        }
        const uint64_t corrected = count_of(device, model::Counter::ecc_corrected);
        if (corrected > watch.corrected) {
            watch.corrected = corrected;
            if (watch.types & single_bit) return tell(single_bit, 0);
        }
    }
    return false;
}

} // namespace

extern "C" {

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *out) {
    return call(Call::nvmlEventSetCreate, [&]() -> nvmlReturn_t {
        if (!out) return INVALID_ARGUMENT;
        *out = new EventSet;
        std::lock_guard lock(sets_mutex);
        sets().push_back(*out);
        return SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t handle, unsigned long long *out) {
    return of_device(Call::nvmlDeviceGetSupportedEventTypes, handle,
                     [&](model::Device &) { return give(out, single_bit | double_bit | critical); });
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t handle, unsigned long long types, nvmlEventSet_t set) {
    return of_device(Call::nvmlDeviceRegisterEvents, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (!is_set(set)) return INVALID_ARGUMENT;
        if ((types & ~(single_bit | double_bit | critical)) != 0) return NOT_SUPPORTED;
        std::lock_guard lock(set->mutex);
        set->watches.push_back({handle, types, count_of(device, model::Counter::ecc_corrected),
                                count_of(device, model::Counter::ecc_uncorrected), false});
        return SUCCESS;
    });
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *out, unsigned int timeout_ms) {
    return call(Call::nvmlEventSetWait_v2, [&]() -> nvmlReturn_t {
        if (!is_set(set) || !out) return INVALID_ARGUMENT;
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
        while (!next(*set, *out)) {
            if (std::chrono::steady_clock::now() >= end) return TIMEOUT;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return SUCCESS;
    });
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    return call(Call::nvmlEventSetFree, [&]() -> nvmlReturn_t {
        std::lock_guard lock(sets_mutex);
        if (std::erase(sets(), set) == 0) return INVALID_ARGUMENT;
        delete set;
        return SUCCESS;
    });
}

} // extern "C"
} // namespace hbf::emulated::nvml
