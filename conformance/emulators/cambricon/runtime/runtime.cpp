// SPDX-License-Identifier: Apache-2.0
// cnrt.h, "Error Handling"; what starts and what is not emulated.
#include "conformance/emulators/cambricon/runtime/runtime.hpp"

#include <array>

namespace hbf::emulated::cnrt {
namespace {

constexpr auto names = std::to_array<const char *>({
#define F(name, parameters) #name,
#include "conformance/emulators/cambricon/runtime/functions.inc"
#undef F
#define U(name) #name,
#include "conformance/emulators/cambricon/runtime/unsupported.inc"
#undef U
});
enum class Unsupported : size_t {
#define U(name) name,
#include "conformance/emulators/cambricon/runtime/unsupported.inc"
#undef U
};

thread_local cnrtRet_t last = Success;

constexpr struct {
    cnrtRet_t code;
    const char *name;
} error_names[] = {
    {0, "cnrtSuccess"},
    {1, "cnrtErrorNotReady"},
    {100002, "cnrtErrorInit"},
    {100004, "cnrtErrorNoDevice"},
    {100005, "cnrtErrorDeviceInvalid"},
    {100006, "cnrtErrorArgsInvalid"},
    {100007, "cnrtErrorSys"},
    {100010, "cnrtErrorSysNoMem"},
    {100014, "cnrtErrorInvalidResourceHandle"},
    {100015, "cnrtErrorIllegalState"},
    {100050, "cnrtErrorNotSupport"},
    {100051, "cnrtErrorOpsNotPermitted"},
    {100060, "cnrtErrorQueue"},
    {100100, "cnrtErrorNoMem"},
    {632013, "cnrtErrorMemcpyDirectionInvalid"},
    {999991, "cnrtErrorUnknown"},
};

} // namespace

Calls &calls() {
    static Calls one("libcnrt.so", names, static_cast<size_t>(Call::supported));
    return one;
}

cnrtRet_t begin() noexcept {
    return cn::cnInit(0);
}

// "The default device is 0."
cnrtRet_t begin_on_device() noexcept {
    if (const cnrtRet_t no = begin(); no != Success) return no;
    cn::CNcontext context = nullptr;
    if (const cnrtRet_t no = cn::cnCtxGetCurrent(&context); no != Success || context) return no;
    return cnrtSetDevice(0);
}

cnrtRet_t remember(cnrtRet_t code) noexcept {
    if (code != Success) last = code;
    return code;
}

extern "C" {

// "Returns the last error and resets it."
cnrtRet_t cnrtGetLastError(void) {
    calls().count(static_cast<size_t>(Call::cnrtGetLastError));
    const cnrtRet_t code = last;
    last = Success;
    return code;
}
cnrtRet_t cnrtPeekAtLastError(void) {
    calls().count(static_cast<size_t>(Call::cnrtPeekAtLastError));
    return last;
}

const char *cnrtGetErrorName(cnrtRet_t error) {
    for (const auto &line : error_names)
        if (line.code == error) return line.name;
    const char *text = nullptr;
    return cn::cnGetErrorName(error, &text) == Success ? text : "cnrtErrorUnknown";
}

const char *cnrtGetErrorStr(cnrtRet_t error) {
    const char *text = nullptr;
    return cn::cnGetErrorString(error, &text) == Success ? text : "unknown error";
}

#define U(name)                                                                                                             \
    HBF_EXPORTED cnrtRet_t name(void);                                                                                      \
    cnrtRet_t name(void) {                                                                                                  \
        calls().count(static_cast<size_t>(Call::supported) + static_cast<size_t>(Unsupported::name));                       \
        return remember(ErrorNotSupport);                                                                                   \
    }
#include "conformance/emulators/cambricon/runtime/unsupported.inc"
#undef U

} // extern "C"

} // namespace hbf::emulated::cnrt
