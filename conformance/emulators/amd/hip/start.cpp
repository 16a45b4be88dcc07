// SPDX-License-Identifier: Apache-2.0
// Start, versions, and functions by name.
#include <cstring>

#include <dlfcn.h>

#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::emulated::hip {
namespace {

// Header, hipDriverGetVersion: "the HIP driver version (which may be the same as runtime)": on AMD it is.
int version() {
    if (runtime_fault(model::Fault::garbage_version)) return -1;
    if (runtime_fault(model::Fault::old_driver)) return static_cast<int>(fault_value(model::Fault::old_driver, 40'300'000));
    return release().number();
}

struct Known {
    const char *name;
    int release; // 502
};
constexpr Known known[] = {
#define F(release, name, parameters) {#name, release},
#define R(release, name, parameters)
#define S(release, name, result, parameters) {#name, release},
#define U(release, name) {#name, release},
#include "conformance/emulators/amd/hip/functions.inc"
#include "conformance/emulators/amd/hip/unsupported.inc"
#undef F
#undef R
#undef S
#undef U
};

} // namespace

extern "C" {

// Header, hipInit: "most HIP APIs implicitly initialize the HIP runtime. This API provides control over the timing"; flags
// must be zero.
hipError_t hipInit(unsigned int flags) {
    calls().count(static_cast<size_t>(Call::hipInit));
    if (flags != 0) return noted(hipErrorInvalidValue);
    return noted(start());
}

// Header, hipDriverGetVersion.
hipError_t hipDriverGetVersion(int *out) {
    return plainly(Call::hipDriverGetVersion, [&] { return give(out, version()); });
}

// Header, hipRuntimeGetVersion: major * 10000000 + minor * 100000 + patch.
hipError_t hipRuntimeGetVersion(int *out) {
    return plainly(Call::hipRuntimeGetVersion, [&] { return give(out, version()); });
}

// HIP 6.1, hipGetProcAddress: a function of at most `asked` release; symbolStatus 0: found, 1: no such symbol, 2: it came
// later.
hipError_t hipGetProcAddress(const char *symbol, void **out, int asked, uint64_t, int *status) {
    return plainly(Call::hipGetProcAddress, [&]() -> hipError_t {
        if (!symbol || !out) return hipErrorInvalidValue;
        *out = nullptr;
        int found = 1;
        for (const Known &one : known)
            if (std::strcmp(one.name, symbol) == 0) found = asked / 100'000 < one.release ? 2 : 0;
        if (found == 0) {
            Dl_info self{};
            if (::dladdr(reinterpret_cast<const void *>(&hipGetProcAddress), &self) && self.dli_fname)
                if (void *const library = ::dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD)) {
                    *out = ::dlsym(library, symbol);
                    ::dlclose(library);
                }
            if (!*out) found = 1;
        }
        if (status) *status = found;
        return found == 0 ? hipSuccess : hipErrorInvalidValue;
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
