// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/errors.hpp"

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::opencl {

std::string_view error_name(cl_int code) noexcept {
    switch (code) {
#define HBF_OPENCL_NAME(code)                                                                                               \
    case code:                                                                                                              \
        return #code;
        HBF_OPENCL_NAME(CL_SUCCESS)
        HBF_OPENCL_NAME(CL_DEVICE_NOT_FOUND)
        HBF_OPENCL_NAME(CL_DEVICE_NOT_AVAILABLE)
        HBF_OPENCL_NAME(CL_COMPILER_NOT_AVAILABLE)
        HBF_OPENCL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
        HBF_OPENCL_NAME(CL_OUT_OF_RESOURCES)
        HBF_OPENCL_NAME(CL_OUT_OF_HOST_MEMORY)
        HBF_OPENCL_NAME(CL_PROFILING_INFO_NOT_AVAILABLE)
        HBF_OPENCL_NAME(CL_MEM_COPY_OVERLAP)
        HBF_OPENCL_NAME(CL_BUILD_PROGRAM_FAILURE)
        HBF_OPENCL_NAME(CL_MAP_FAILURE)
        HBF_OPENCL_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)
        HBF_OPENCL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        HBF_OPENCL_NAME(CL_COMPILE_PROGRAM_FAILURE)
        HBF_OPENCL_NAME(CL_LINKER_NOT_AVAILABLE)
        HBF_OPENCL_NAME(CL_LINK_PROGRAM_FAILURE)
        HBF_OPENCL_NAME(CL_INVALID_VALUE)
        HBF_OPENCL_NAME(CL_INVALID_DEVICE_TYPE)
        HBF_OPENCL_NAME(CL_INVALID_PLATFORM)
        HBF_OPENCL_NAME(CL_INVALID_DEVICE)
        HBF_OPENCL_NAME(CL_INVALID_CONTEXT)
        HBF_OPENCL_NAME(CL_INVALID_QUEUE_PROPERTIES)
        HBF_OPENCL_NAME(CL_INVALID_COMMAND_QUEUE)
        HBF_OPENCL_NAME(CL_INVALID_HOST_PTR)
        HBF_OPENCL_NAME(CL_INVALID_MEM_OBJECT)
        HBF_OPENCL_NAME(CL_INVALID_BINARY)
        HBF_OPENCL_NAME(CL_INVALID_BUILD_OPTIONS)
        HBF_OPENCL_NAME(CL_INVALID_PROGRAM)
        HBF_OPENCL_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
        HBF_OPENCL_NAME(CL_INVALID_KERNEL_NAME)
        HBF_OPENCL_NAME(CL_INVALID_KERNEL)
        HBF_OPENCL_NAME(CL_INVALID_ARG_INDEX)
        HBF_OPENCL_NAME(CL_INVALID_ARG_VALUE)
        HBF_OPENCL_NAME(CL_INVALID_ARG_SIZE)
        HBF_OPENCL_NAME(CL_INVALID_KERNEL_ARGS)
        HBF_OPENCL_NAME(CL_INVALID_WORK_DIMENSION)
        HBF_OPENCL_NAME(CL_INVALID_WORK_GROUP_SIZE)
        HBF_OPENCL_NAME(CL_INVALID_WORK_ITEM_SIZE)
        HBF_OPENCL_NAME(CL_INVALID_GLOBAL_OFFSET)
        HBF_OPENCL_NAME(CL_INVALID_EVENT_WAIT_LIST)
        HBF_OPENCL_NAME(CL_INVALID_EVENT)
        HBF_OPENCL_NAME(CL_INVALID_OPERATION)
        HBF_OPENCL_NAME(CL_INVALID_BUFFER_SIZE)
        HBF_OPENCL_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
        HBF_OPENCL_NAME(CL_INVALID_PROPERTY)
        HBF_OPENCL_NAME(CL_PLATFORM_NOT_FOUND_KHR)
#undef HBF_OPENCL_NAME
    default:
        return "an unknown error";
    }
}

std::string error_text(cl_int code) {
    return fmt::format("{} ({})", error_name(code), code);
}

hbf_status error_status(cl_int code) noexcept {
    switch (code) {
    case CL_SUCCESS:
        return HBF_OK;
    case CL_DEVICE_NOT_FOUND:
    case CL_PLATFORM_NOT_FOUND_KHR:
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_LINKER_NOT_AVAILABLE:
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
        return HBF_UNAVAILABLE;
    case CL_DEVICE_NOT_AVAILABLE:
        return HBF_DEVICE_LOST;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE: // above what the device takes in one piece
        return HBF_EXHAUSTED;
    default:
        return HBF_INTERNAL;
    }
}

hbf_status end_status(cl_int code) noexcept {
    return code == CL_OUT_OF_RESOURCES ? HBF_DEVICE_LOST : error_status(code);
}

void check(cl_int code, std::string_view what) {
    if (code != CL_SUCCESS) sdk::fail(error_status(code), fmt::format("{}: {}", what, error_text(code)));
}

} // namespace hbf::opencl
