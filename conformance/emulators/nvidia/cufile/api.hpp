// SPDX-License-Identifier: Apache-2.0
// cuFile as NVIDIA's "cuFile API Reference Guide" has it, as far as it is emulated: declared here, because no header of the
// vendor is needed to build.
#pragma once

#include <cstddef>

#include <sys/types.h>

#include "conformance/emulators/nvidia/cuda/api.hpp"

namespace hbf::emulated::cufile {

struct File;
using CUfileHandle_t = File *;

enum Code : int { // CUfileOpError
    SUCCESS = 0,
    DRIVER_NOT_INITIALIZED = 5001,
    INVALID_VALUE = 5019,
    INVALID_FILE_TYPE = 5020,
    HANDLE_NOT_REGISTERED = 5021,
    CUDA_DRIVER_ERROR = 5011,
    INTERNAL_ERROR = 5030,
};

struct CUfileError_t {
    int err;
    int cu_err;
};

struct CUfileDescr_t {
    int type; // 1: a descriptor of the system's
    union {
        int fd;
        void *handle;
    } handle;
    const void *fs_ops;
};

} // namespace hbf::emulated::cufile
