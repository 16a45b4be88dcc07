// SPDX-License-Identifier: Apache-2.0
// Reference, "Initialization and Cleanup", "System Queries" and "Error reporting".
#include "conformance/emulators/nvidia/nvml/library.hpp"

#include <atomic>
#include <cstring>
#include <mutex>

namespace hbf::emulated::nvml {
namespace {

constexpr const char *names[] = {
#define F(symbol, parameters) #symbol,
#include "conformance/emulators/nvidia/nvml/functions.inc"
#undef F
#define U(symbol) #symbol,
#include "conformance/emulators/nvidia/nvml/unsupported.inc"
#undef U
};

std::mutex mutex;
std::atomic<unsigned int> users{0}; // nvmlInit and nvmlShutdown are counted

std::vector<Device> *devices = nullptr; // made once; handles are good for ever

nvmlReturn_t initialize() {
    std::lock_guard lock(mutex);
    model::Machine *const machine = model::machine();
    if (!machine || machine->devices_of("nvidia").empty()) return DRIVER_NOT_LOADED;
    if (machine->faults().on(model::Fault::init_permission, -1)) return NO_PERMISSION;
    if (machine->faults().on(model::Fault::stub_library, -1)) return LIB_RM_VERSION_MISMATCH;
    if (!devices) {
        const std::vector<int> indices = machine->devices_of("nvidia");
        auto *const made = new std::vector<Device>;
        for (size_t i = 0; i < indices.size(); ++i)
            made->push_back({&machine->device(indices[indices.size() - 1 - i]), static_cast<unsigned int>(i)});
        devices = made;
    }
    users.fetch_add(1, std::memory_order_acq_rel);
    return SUCCESS;
}

int cuda_version() {
    return static_cast<int>(machine().profile().vendor_number("nvidia", "driver_version", 13000));
}

} // namespace

Calls &calls() {
    static Calls calls("libnvidia-ml.so.1", names, static_cast<size_t>(Call::supported));
    return calls;
}
bool initialized() noexcept {
    return users.load(std::memory_order_acquire) != 0;
}
model::Machine &machine() noexcept {
    return *model::machine();
}
unsigned int count() noexcept {
    return static_cast<unsigned int>(devices->size());
}
Device *by_index(unsigned int index) noexcept {
    return index < devices->size() ? &(*devices)[index] : nullptr;
}
bool is_device(const Device *handle) noexcept {
    for (const Device &device : *devices)
        if (&device == handle) return true;
    return false;
}

nvmlReturn_t text(const std::string &value, char *out, unsigned int room) {
    if (!out) return INVALID_ARGUMENT;
    if (value.size() >= room) return INSUFFICIENT_SIZE;
    std::memcpy(out, value.c_str(), value.size() + 1);
    return SUCCESS;
}

extern "C" {

nvmlReturn_t nvmlInit_v2(void) {
    calls().count(static_cast<size_t>(Call::nvmlInit_v2));
    return initialize();
}

nvmlReturn_t nvmlInitWithFlags(unsigned int) {
    calls().count(static_cast<size_t>(Call::nvmlInitWithFlags));
    return initialize();
}

// "A reference count of the number of initializations is maintained. Shutdown only occurs when the reference count reaches
// zero."
nvmlReturn_t nvmlShutdown(void) {
    return call(Call::nvmlShutdown, []() -> nvmlReturn_t {
        std::lock_guard lock(mutex);
        if (users.load() == 0) return UNINITIALIZED;
        users.fetch_sub(1);
        return SUCCESS;
    });
}

const char *nvmlErrorString(nvmlReturn_t result) {
    switch (result) {
    case SUCCESS:
        return "Success";
    case UNINITIALIZED:
        return "Uninitialized";
    case INVALID_ARGUMENT:
        return "Invalid Argument";
    case NOT_SUPPORTED:
        return "Not Supported";
    case NO_PERMISSION:
        return "Insufficient Permissions";
    case NOT_FOUND:
        return "Not Found";
    case INSUFFICIENT_SIZE:
        return "Insufficient Size";
    case DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    case TIMEOUT:
        return "Timeout";
    case GPU_IS_LOST:
        return "GPU is lost";
    case LIB_RM_VERSION_MISMATCH:
        return "Driver/library version mismatch";
    case ARGUMENT_VERSION_MISMATCH:
        return "Argument version mismatch";
    default:
        return "Unknown Error";
    }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *out, unsigned int room) {
    return call(Call::nvmlSystemGetDriverVersion, [&] {
        if (machine().faults().on(model::Fault::garbage_version, -1)) return text("-1.garbage", out, room);
        return text(machine().profile().vendor_text("nvidia", "driver", "580.65.06"), out, room);
    });
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *out, unsigned int room) {
    return call(Call::nvmlSystemGetNVMLVersion,
                [&] { return text("13." + machine().profile().vendor_text("nvidia", "driver", "580.65.06"), out, room); });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *out) {
    return call(Call::nvmlSystemGetCudaDriverVersion, [&] { return give(out, cuda_version()); });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *out) {
    return call(Call::nvmlSystemGetCudaDriverVersion_v2, [&] { return give(out, cuda_version()); });
}

} // extern "C"

namespace {

enum class Unsupported : size_t {
    before = static_cast<size_t>(Call::supported) - 1,
#define U(symbol) symbol,
#include "conformance/emulators/nvidia/nvml/unsupported.inc"
#undef U
};

nvmlReturn_t not_supported(Unsupported function) {
    calls().count(static_cast<size_t>(function));
    return initialized() ? NOT_SUPPORTED : UNINITIALIZED;
}

} // namespace

extern "C" {
#define U(symbol)                                                                                                           \
    HBF_EXPORTED nvmlReturn_t symbol(void);                                                                                 \
    nvmlReturn_t symbol(void) {                                                                                             \
        return not_supported(Unsupported::symbol);                                                                          \
    }
#include "conformance/emulators/nvidia/nvml/unsupported.inc"
#undef U
} // extern "C"

} // namespace hbf::emulated::nvml
