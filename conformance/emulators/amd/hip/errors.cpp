// SPDX-License-Identifier: Apache-2.0
// Codes: which says what happened on the machine, their names, and the last one of a thread.
#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::emulated::hip {

// Header, hipError_t, by the comment of each code. HIP has none of its own for a link or for a device that is gone: what HSA
// says then comes through as hipErrorRuntimeOther.
hipError_t code(model::Outcome outcome) noexcept {
    using enum model::Outcome;
    switch (outcome) {
    case ok:
        return hipSuccess;
    case pending:
        return hipErrorNotReady;
    case invalid:
        return hipErrorInvalidValue;
    case no_memory:
        return hipErrorOutOfMemory;
    case unknown_address:
    case out_of_range:
    case no_access:
        return hipErrorIllegalAddress;
    case uncorrectable:
        return hipErrorECCNotCorrectable;
    case launch_failed:
        return hipErrorLaunchFailure;
    case unsupported:
        return hipErrorNotSupported;
    case busy:
        return hipErrorIllegalState;
    case link_error:
    case lost:
        return hipErrorRuntimeOther;
    case failed:
        return hipErrorUnknown;
    }
    return hipErrorUnknown;
}

hipError_t refusal(model::Outcome outcome) noexcept {
    using enum model::Outcome;
    switch (outcome) {
    case unknown_address:
    case out_of_range:
    case no_access:
        return hipErrorInvalidValue;
    default:
        return code(outcome);
    }
}

extern "C" {

// Header, hipGetErrorName: the name of the code as text; of an unknown one the function says so.
const char *hipGetErrorName(hipError_t error) {
    calls().count(static_cast<size_t>(Call::hipGetErrorName));
    switch (error) {
#define X(name, value, text)                                                                                                \
    case value:                                                                                                             \
        return #name;
        HBF_HIP_CODES(X)
#undef X
    default:
        return "hipErrorUnknown";
    }
}

// Header, hipGetErrorString: "handy text string message".
const char *hipGetErrorString(hipError_t error) {
    calls().count(static_cast<size_t>(Call::hipGetErrorString));
    switch (error) {
#define X(name, value, text)                                                                                                \
    case value:                                                                                                             \
        return text;
        HBF_HIP_CODES(X)
#undef X
    default:
        return "unknown error";
    }
}

// Header, hipGetLastError: "return last error ... and resets it".
hipError_t hipGetLastError() {
    calls().count(static_cast<size_t>(Call::hipGetLastError));
    const hipError_t last = last_error();
    last_error() = hipSuccess;
    return last;
}

// Header of 6.0, hipExtGetLastError: the same.
hipError_t hipExtGetLastError() {
    calls().count(static_cast<size_t>(Call::hipExtGetLastError));
    const hipError_t last = last_error();
    last_error() = hipSuccess;
    return last;
}

// Header, hipPeekAtLastError: "but does not reset it".
hipError_t hipPeekAtLastError() {
    calls().count(static_cast<size_t>(Call::hipPeekAtLastError));
    return last_error();
}

} // extern "C"
} // namespace hbf::emulated::hip
