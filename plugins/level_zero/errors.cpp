// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/errors.hpp"

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::level_zero {
namespace {

struct Known {
    ze::Result code;
    hbf_status status;
    const char *name;
};

constexpr Known known[] = {
    {ze::success, HBF_OK, "SUCCESS"},
    {ze::not_ready, HBF_BUSY, "NOT_READY"},
    {ze::device_lost, HBF_DEVICE_LOST, "ERROR_DEVICE_LOST"},
    {ze::out_of_host_memory, HBF_EXHAUSTED, "ERROR_OUT_OF_HOST_MEMORY"},
    {ze::out_of_device_memory, HBF_EXHAUSTED, "ERROR_OUT_OF_DEVICE_MEMORY"},
    {ze::module_build_failure, HBF_UNAVAILABLE, "ERROR_MODULE_BUILD_FAILURE"},
    {ze::device_requires_reset, HBF_DEVICE_LOST, "ERROR_DEVICE_REQUIRES_RESET"},
    {ze::device_in_low_power_state, HBF_UNAVAILABLE, "ERROR_DEVICE_IN_LOW_POWER_STATE"},
    {ze::insufficient_permissions, HBF_PERMISSION, "ERROR_INSUFFICIENT_PERMISSIONS"},
    {ze::not_available, HBF_BUSY, "ERROR_NOT_AVAILABLE"},
    {ze::dependency_unavailable, HBF_UNAVAILABLE, "ERROR_DEPENDENCY_UNAVAILABLE"},
    {ze::uninitialized, HBF_UNAVAILABLE, "ERROR_UNINITIALIZED"},
    {ze::unsupported_version, HBF_UNSUPPORTED, "ERROR_UNSUPPORTED_VERSION"},
    {ze::unsupported_feature, HBF_UNSUPPORTED, "ERROR_UNSUPPORTED_FEATURE"},
    {ze::invalid_argument, HBF_INTERNAL, "ERROR_INVALID_ARGUMENT"},
    {ze::invalid_null_handle, HBF_INTERNAL, "ERROR_INVALID_NULL_HANDLE"},
    {ze::object_in_use, HBF_BUSY, "ERROR_HANDLE_OBJECT_IN_USE"},
    {ze::invalid_null_pointer, HBF_INTERNAL, "ERROR_INVALID_NULL_POINTER"},
    {ze::invalid_size, HBF_INTERNAL, "ERROR_INVALID_SIZE"},
    {ze::unsupported_size, HBF_EXHAUSTED, "ERROR_UNSUPPORTED_SIZE"},
    {ze::unsupported_alignment, HBF_UNSUPPORTED, "ERROR_UNSUPPORTED_ALIGNMENT"},
    {ze::invalid_synchronization_object, HBF_INTERNAL, "ERROR_INVALID_SYNCHRONIZATION_OBJECT"},
    {ze::invalid_enumeration, HBF_INTERNAL, "ERROR_INVALID_ENUMERATION"},
    {ze::unsupported_enumeration, HBF_UNSUPPORTED, "ERROR_UNSUPPORTED_ENUMERATION"},
    {ze::invalid_native_binary, HBF_UNAVAILABLE, "ERROR_INVALID_NATIVE_BINARY"},
    {ze::invalid_kernel_name, HBF_UNAVAILABLE, "ERROR_INVALID_KERNEL_NAME"},
    {ze::invalid_group_size, HBF_INVALID, "ERROR_INVALID_GROUP_SIZE_DIMENSION"},
    {ze::invalid_kernel_argument_index, HBF_INTERNAL, "ERROR_INVALID_KERNEL_ARGUMENT_INDEX"},
    {ze::invalid_kernel_argument_size, HBF_INTERNAL, "ERROR_INVALID_KERNEL_ARGUMENT_SIZE"},
    {ze::unknown, HBF_INTERNAL, "ERROR_UNKNOWN"},
};

const Known *find(ze::Result code) noexcept {
    for (const Known &one : known)
        if (one.code == code) return &one;
    return nullptr;
}

} // namespace

std::string error_text(ze::Result code) {
    const Known *const one = find(code);
    return one ? fmt::format("ZE_RESULT_{} ({:#x})", one->name, code) : fmt::format("an unknown result ({:#x})", code);
}

hbf_status error_status(ze::Result code) noexcept {
    const Known *const one = find(code);
    return one ? one->status : HBF_INTERNAL;
}

void check(ze::Result code, std::string_view what) {
    if (code != ze::success) sdk::fail(error_status(code), fmt::format("{}: {}", what, error_text(code)));
}

} // namespace hbf::level_zero
