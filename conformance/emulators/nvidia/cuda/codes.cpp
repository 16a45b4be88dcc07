// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/nvidia/cuda/codes.hpp"

#include <algorithm>
#include <iterator>

namespace hbf::emulated::cuda {
namespace {

struct Named {
    CUresult code;
    const char *name, *description;
};
#define NAMED(id, text) {id, "CUDA_ERROR_" #id, text}
constexpr Named all[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    NAMED(INVALID_VALUE, "invalid argument"),
    NAMED(OUT_OF_MEMORY, "out of memory"),
    NAMED(NOT_INITIALIZED, "initialization error"),
    NAMED(DEINITIALIZED, "driver shutting down"),
    NAMED(STUB_LIBRARY, "this is a stub library"),
    NAMED(DEVICE_UNAVAILABLE, "device busy or unavailable"),
    NAMED(NO_DEVICE, "no CUDA-capable device is detected"),
    NAMED(INVALID_DEVICE, "invalid device ordinal"),
    NAMED(INVALID_IMAGE, "device kernel image is invalid"),
    NAMED(INVALID_CONTEXT, "invalid device context"),
    NAMED(MAP_FAILED, "mapping failed"),
    NAMED(UNMAP_FAILED, "unmapping failed"),
    NAMED(NO_BINARY_FOR_GPU, "no kernel image is available for this device"),
    NAMED(ECC_UNCORRECTABLE, "uncorrectable ECC error"),
    NAMED(UNSUPPORTED_LIMIT, "limit is not supported on this device"),
    NAMED(PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices"),
    NAMED(INVALID_PTX, "PTX could not be compiled"),
    NAMED(NVLINK_UNCORRECTABLE, "uncorrectable NVLink error"),
    NAMED(UNSUPPORTED_PTX_VERSION, "PTX of a newer version than the driver knows"),
    NAMED(CONTAINED, "contained hardware error"),
    NAMED(OPERATING_SYSTEM, "an operating system call failed"),
    NAMED(INVALID_HANDLE, "invalid resource handle"),
    NAMED(ILLEGAL_STATE, "resource in a state that does not allow this"),
    NAMED(NOT_FOUND, "named symbol not found"),
    NAMED(NOT_READY, "device not ready"),
    NAMED(ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    NAMED(LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    NAMED(LAUNCH_TIMEOUT, "the launch timed out and was ended"),
    NAMED(PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    NAMED(PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    NAMED(PRIMARY_CONTEXT_ACTIVE, "primary context is active"),
    NAMED(CONTEXT_IS_DESTROYED, "context is destroyed"),
    NAMED(HOST_MEMORY_ALREADY_REGISTERED, "part or all of the memory is registered already"),
    NAMED(HOST_MEMORY_NOT_REGISTERED, "memory is not registered"),
    NAMED(LAUNCH_FAILED, "unspecified launch failure"),
    NAMED(NOT_PERMITTED, "operation not permitted"),
    NAMED(NOT_SUPPORTED, "operation not supported"),
    NAMED(SYSTEM_NOT_READY, "system not yet initialized"),
    NAMED(SYSTEM_DRIVER_MISMATCH, "system has unsupported display driver / cuda driver combination"),
    NAMED(COMPAT_NOT_SUPPORTED_ON_DEVICE, "forward compatibility was attempted on non supported hardware"),
    NAMED(UNKNOWN, "unknown error"),
};
#undef NAMED

const Named *find(CUresult result) {
    const auto *const at = std::find_if(std::begin(all), std::end(all), [&](const Named &n) { return n.code == result; });
    return at == std::end(all) ? nullptr : at;
}

} // namespace

// Reference, enum cudaError_enum: what each code says of the device and the process.
CUresult code(model::Outcome outcome) noexcept {
    switch (outcome) {
    case model::Outcome::ok:
        return SUCCESS;
    case model::Outcome::pending:
        return NOT_READY;
    case model::Outcome::invalid:
        return INVALID_VALUE;
    case model::Outcome::no_memory:
        return OUT_OF_MEMORY;
    case model::Outcome::unknown_address:
    case model::Outcome::out_of_range:
    case model::Outcome::no_access:
        return ILLEGAL_ADDRESS;
    case model::Outcome::uncorrectable:
        return ECC_UNCORRECTABLE;
    case model::Outcome::link_error:
        return NVLINK_UNCORRECTABLE;
    case model::Outcome::launch_failed:
        return LAUNCH_FAILED;
    case model::Outcome::unsupported:
        return NOT_SUPPORTED;
    case model::Outcome::busy:
        return ILLEGAL_STATE;
    case model::Outcome::lost:
        return UNKNOWN; // no code of its own in the reference; NVML has one: GPU_IS_LOST
    case model::Outcome::failed:
        return CONTAINED;
    }
    return UNKNOWN;
}

CUresult refusal(model::Outcome outcome) noexcept {
    switch (outcome) {
    case model::Outcome::unknown_address:
    case model::Outcome::out_of_range:
    case model::Outcome::no_access:
        return INVALID_VALUE; // found by looking at the pointers, before any device saw them
    default:
        return code(outcome);
    }
}

const char *name_of(CUresult result) noexcept {
    const Named *const named = find(result);
    return named ? named->name : nullptr;
}

const char *description_of(CUresult result) noexcept {
    const Named *const named = find(result);
    return named ? named->description : nullptr;
}

} // namespace hbf::emulated::cuda
