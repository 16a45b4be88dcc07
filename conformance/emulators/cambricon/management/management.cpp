// SPDX-License-Identifier: Apache-2.0
// libcndev.so: what CNDev says of the machine's devices (cndev.h). Every struct begins with the version of its layout, which
// the caller sets, and one that the library does not know is refused.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "conformance/emulators/calls/calls.hpp"
#include "conformance/sim/model/machine.hpp"

#define HBF_EXPORTED __attribute__((visibility("default")))

namespace hbf::emulated::cndev {
namespace {

using model::Counter;

enum Code : int {
    SUCCESS = 0,
    ERROR_NO_DRIVER = 1,
    ERROR_UNSUPPORTED_API_VERSION = 3,
    ERROR_UNINITIALIZED = 4,
    ERROR_INVALID_ARGUMENT = 5,
    ERROR_INVALID_DEVICE_ID = 6,
    ERROR_NOT_SUPPORTED = 10,
    ERROR_NO_DEVICES = 12,
    ERROR_NOT_FOUND = 14,
};
constexpr int oldest_version = 5, newest_version = 6; // CNDEV_VERSION_5, CNDEV_VERSION_6

struct CardInfo {
    int version;
    unsigned number;
};
struct EccInfo {
    int version;
    uint64_t one_bit, multiple_one, multiple, multiple_multiple, corrected, uncorrected, total, address_forbidden;
};
static_assert(sizeof(EccInfo) == 72);
struct ReplayCounter {
    int version;
    uint32_t counter;
};
struct RemappedRows {
    int version;
    uint32_t correct, uncorrect, pending, failed;
};
struct Temperature {
    int version, board, cluster[20], memory_die[8], chip, air_inlet, air_outlet, memory, video_input, cpu, isp;
};
struct PciInfo {
    int version, speed, width;
};
struct HealthState {
    int version, health;
};

constexpr auto names = std::to_array<const char *>({"cndevInit",
                                                    "cndevRelease",
                                                    "cndevGetErrorString",
                                                    "cndevGetDeviceCount",
                                                    "cndevGetDeviceHandleByIndex",
                                                    "cndevGetDeviceHandleByPciBusId",
                                                    "cndevGetECCInfo",
                                                    "cndevGetPcieReplayCounter",
                                                    "cndevGetRemappedRows",
                                                    "cndevGetTemperatureInfo",
                                                    "cndevGetCurrentPCIInfo",
                                                    "cndevGetCardHealthState",
                                                    "cndevGetVersionInfo",
                                                    "cndevGetMemoryUsageV2",
                                                    "cndevGetMemEccCounter",
                                                    "cndevGetEccMode",
                                                    "cndevGetMLULinkStatusV2",
                                                    "cndevGetMimMode",
                                                    "cndevGetNUMANodeIdByDevId",
                                                    "cndevTopologyGetRelationship",
                                                    "cndevEventHandleCreate"});
constexpr size_t supported = 12;

Calls &calls() {
    static Calls one("libcndev.so", names, supported);
    return one;
}
void count(std::string_view name) {
    calls().count(static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
}

std::atomic<bool> initialized{false};

const std::vector<int> &devices() {
    static const auto &all =
        *new std::vector<int>(model::machine() ? model::machine()->devices_of("cambricon") : std::vector<int>());
    return all;
}

// A struct to be written for a device.
template <class T, class Work>
int answer(const char *name, T *out, int device, Work &&work) {
    count(name);
    if (!initialized) return ERROR_UNINITIALIZED;
    if (!out) return ERROR_INVALID_ARGUMENT;
    if (device < 0 || static_cast<size_t>(device) >= devices().size()) return ERROR_INVALID_DEVICE_ID;
    if (out->version < oldest_version || out->version > newest_version) return ERROR_UNSUPPORTED_API_VERSION;
    const int index = devices()[static_cast<size_t>(device)];
    return work(model::machine()->device(index));
}

} // namespace

extern "C" {

HBF_EXPORTED int cndevInit(int reserved) {
    count("cndevInit");
    if (reserved != 0) return ERROR_INVALID_ARGUMENT;
    if (!model::machine()) return ERROR_NO_DRIVER;
    if (devices().empty()) return ERROR_NO_DEVICES;
    initialized = true;
    return SUCCESS;
}
HBF_EXPORTED int cndevRelease(void) {
    count("cndevRelease");
    return initialized.exchange(false) ? SUCCESS : ERROR_UNINITIALIZED;
}
HBF_EXPORTED const char *cndevGetErrorString(int error) {
    count("cndevGetErrorString");
    return error == SUCCESS ? "No error" : "an error";
}

HBF_EXPORTED int cndevGetDeviceCount(CardInfo *out) {
    count("cndevGetDeviceCount");
    if (!initialized) return ERROR_UNINITIALIZED;
    if (!out) return ERROR_INVALID_ARGUMENT;
    if (out->version < oldest_version || out->version > newest_version) return ERROR_UNSUPPORTED_API_VERSION;
    out->number = static_cast<unsigned>(devices().size());
    return SUCCESS;
}

HBF_EXPORTED int cndevGetDeviceHandleByIndex(int index, int *device) {
    count("cndevGetDeviceHandleByIndex");
    if (!initialized) return ERROR_UNINITIALIZED;
    if (!device) return ERROR_INVALID_ARGUMENT;
    if (index < 0 || static_cast<size_t>(index) >= devices().size()) return ERROR_INVALID_DEVICE_ID;
    *device = index;
    return SUCCESS;
}

HBF_EXPORTED int cndevGetDeviceHandleByPciBusId(const char *address, int *device) {
    count("cndevGetDeviceHandleByPciBusId");
    if (!initialized) return ERROR_UNINITIALIZED;
    if (!address || !device) return ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < devices().size(); ++i)
        if (model::machine()->device(devices()[i]).profile().pci == address) {
            *device = static_cast<int>(i);
            return SUCCESS;
        }
    return ERROR_NOT_FOUND;
}

HBF_EXPORTED int cndevGetECCInfo(EccInfo *out, int device) {
    return answer("cndevGetECCInfo", out, device, [&](model::Device &one) -> int {
        const int version = out->version;
        *out = {};
        out->version = version;
        out->corrected = one.health().get(Counter::ecc_corrected);
        out->uncorrected = one.health().get(Counter::ecc_uncorrected);
        out->total = out->corrected + out->uncorrected;
        return SUCCESS;
    });
}

HBF_EXPORTED int cndevGetPcieReplayCounter(ReplayCounter *out, int device) {
    return answer("cndevGetPcieReplayCounter", out, device, [&](model::Device &one) -> int {
        out->counter = static_cast<uint32_t>(one.health().get(Counter::pcie_replays));
        return SUCCESS;
    });
}

HBF_EXPORTED int cndevGetRemappedRows(RemappedRows *out, int device) {
    return answer("cndevGetRemappedRows", out, device, [&](model::Device &one) -> int {
        out->correct = 0, out->pending = 0, out->failed = 0;
        out->uncorrect = static_cast<uint32_t>(one.health().get(Counter::rows_remapped));
        return SUCCESS;
    });
}

HBF_EXPORTED int cndevGetTemperatureInfo(Temperature *out, int device) {
    return answer("cndevGetTemperatureInfo", out, device, [&](model::Device &one) -> int {
        const auto celsius = static_cast<int>(one.health().get(Counter::temperature_c));
        out->board = celsius, out->chip = celsius;
        std::fill(std::begin(out->cluster), std::end(out->cluster), celsius);
        out->memory = static_cast<int>(one.health().get(Counter::memory_temperature_c));
        return SUCCESS;
    });
}

// "PCIe generation", "PCIe link width".
HBF_EXPORTED int cndevGetCurrentPCIInfo(PciInfo *out, int device) {
    return answer("cndevGetCurrentPCIInfo", out, device, [&](model::Device &one) -> int {
        const model::LinkState link = model::machine()->host_link(one.index());
        if (!link.profile) return ERROR_NOT_SUPPORTED;
        out->speed = static_cast<int>(link.generation), out->width = static_cast<int>(link.width);
        return SUCCESS;
    });
}

HBF_EXPORTED int cndevGetCardHealthState(HealthState *out, int device) {
    return answer("cndevGetCardHealthState", out, device, [&](model::Device &one) -> int {
        out->health = one.lost() ? 0 : 1;
        return SUCCESS;
    });
}

#define HBF_NOT_EMULATED(name)                                                                                              \
    HBF_EXPORTED int name(void) {                                                                                           \
        count(#name);                                                                                                       \
        return ERROR_NOT_SUPPORTED;                                                                                         \
    }
HBF_NOT_EMULATED(cndevGetVersionInfo)
HBF_NOT_EMULATED(cndevGetMemoryUsageV2)
HBF_NOT_EMULATED(cndevGetMemEccCounter)
HBF_NOT_EMULATED(cndevGetEccMode)
HBF_NOT_EMULATED(cndevGetMLULinkStatusV2)
HBF_NOT_EMULATED(cndevGetMimMode)
HBF_NOT_EMULATED(cndevGetNUMANodeIdByDevId)
HBF_NOT_EMULATED(cndevTopologyGetRelationship)
HBF_NOT_EMULATED(cndevEventHandleCreate)
#undef HBF_NOT_EMULATED

} // extern "C"

} // namespace hbf::emulated::cndev
