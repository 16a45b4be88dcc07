// SPDX-License-Identifier: Apache-2.0
// Reference, "Initialization", "Version Management", "Error Handling" and "Driver Entry Point Access".
#include <cstring>
#include <string_view>

#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

struct Entry {
    std::string_view name;
    int version;
    void *function, *per_thread;
};

template <class T>
void *address(T *function) {
    return reinterpret_cast<void *>(function);
}

// The form of a function in which stream 0 is the calling thread's own (reference, "Stream synchronization behavior").
template <auto function>
struct PerThread;
template <class... Arguments, CUresult (*function)(Arguments...)>
struct PerThread<function> {
    static CUresult call(Arguments... arguments) {
        per_thread_default = true;
        const CUresult result = function(arguments...);
        per_thread_default = false;
        return result;
    }
};

const Entry entries[] = {
#define F(name, version, symbol, parameters)                                                                                \
    {#name, version, address<CUresult parameters>(&symbol), address(&PerThread<&symbol>::call)},
#include "conformance/emulators/nvidia/cuda/functions.inc"
#undef F
};

// Reference, cuGetProcAddress: the newest form that `version` knows, under the name without its suffix; none for a version
// that the driver itself has not got.
CUresult find(const char *symbol, void **function, int version, uint64_t flags, int &status) {
    if (!symbol || !function || version < 0 || (flags & ~uint64_t{3}) != 0 || (flags & 3) == 3) return INVALID_VALUE;
    *function = nullptr;
    status = QUERY_SYMBOL_NOT_FOUND;
    if (version > driver_version()) return INVALID_VALUE;
    model::Machine *const machine = model::machine();
    if (machine && machine->faults().on(model::Fault::missing_symbol, -1) && std::string_view(symbol) == "cuStreamWaitEvent")
        return SUCCESS;
    const Entry *best = nullptr;
    for (const Entry &entry : entries) {
        if (entry.name != symbol || entry.version > driver_version()) continue;
        if (status != QUERY_SUCCESS) status = QUERY_VERSION_NOT_SUFFICIENT;
        if (entry.version > version || (best && entry.version < best->version)) continue;
        best = &entry;
        status = QUERY_SUCCESS;
    }
    if (best) *function = (flags & PROC_PER_THREAD_STREAM) ? best->per_thread : best->function;
    return SUCCESS;
}

void counted(Call function) noexcept {
    calls().count(static_cast<size_t>(function));
}

} // namespace

extern "C" {

CUresult cuInit(unsigned int flags) {
    counted(Call::cuInit);
    return initialize(flags);
}

// Works without cuInit. Reference: 1000 * major + 10 * minor.
CUresult cuDriverGetVersion(int *version) {
    counted(Call::cuDriverGetVersion);
    if (const CUresult no = always_answered()) return no;
    return give(version, driver_version());
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    counted(Call::cuGetErrorString);
    if (!text) return INVALID_VALUE;
    *text = description_of(error); // reference: NULL and INVALID_VALUE if the code is not recognized
    return *text ? SUCCESS : INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
    counted(Call::cuGetErrorName);
    if (!text) return INVALID_VALUE;
    *text = name_of(error);
    return *text ? SUCCESS : INVALID_VALUE;
}

// Of release 11.3, without a status: what is not there is CUDA_ERROR_NOT_FOUND.
CUresult cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
    counted(Call::cuGetProcAddress);
    if (const CUresult no = always_answered()) return no;
    int status = 0;
    if (const CUresult no = find(symbol, function, version, flags, status)) return no;
    return *function ? SUCCESS : NOT_FOUND;
}

// Reference: SUCCESS and a null pointer for what is not there; the status, which is optional, says why.
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status) {
    counted(Call::cuGetProcAddress_v2);
    if (const CUresult no = always_answered()) return no;
    int found = 0;
    const CUresult result = find(symbol, function, version, flags, found);
    if (status) *status = found;
    return result;
}

} // extern "C"
} // namespace hbf::emulated::cuda
