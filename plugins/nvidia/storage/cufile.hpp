// SPDX-License-Identifier: Apache-2.0
// cuFile, the library of GPUDirect Storage, as far as it is used here: our own declarations, and the library opened when it
// is asked for. Reads and writes of a file in a stream's order came with its release 1.7 (CUDA 12.2).
#pragma once

#include <cstddef>
#include <string>

#include <sys/types.h>

#include "plugins/nvidia/api.hpp"

namespace hbf::nvidia::cufile {

using Handle = void *; // CUfileHandle_t

struct Error { // CUfileError_t, by value
    int code;  // CUfileOpError; 0: success, else 5001 and more
    int cuda;  // CUresult, where the code says that the driver failed
};

struct Descriptor { // CUfileDescr_t
    int type = 1;   // CU_FILE_HANDLE_TYPE_OPAQUE_FD
    union {
        int fd;
        void *handle;
    } file = {.handle = nullptr};
    const void *operations = nullptr; // of file systems in user space
};
static_assert(sizeof(Error) == 8 && sizeof(Descriptor) == 24);

// All that is pointed to is looked at when the stream gets there: it stays until then, and `done` says how it ended: the
// bytes, -1 for an error of the system's, or a code of cuFile's, negative.
using Move = Error (*)(Handle file, void *memory, size_t *size, off_t *in_file, off_t *in_memory, ssize_t *done,
                       cuda::Stream stream);

struct Functions {
    Error (*DriverOpen)() = nullptr;
    Error (*HandleRegister)(Handle *file, Descriptor *what) = nullptr;
    void (*HandleDeregister)(Handle file) = nullptr;
    Move ReadAsync = nullptr, WriteAsync = nullptr;
};

// "" or why that file is no cuFile that serves.
std::string load(const char *file, Functions &out);

// For the life of the process, its driver open. nullptr: `why` not.
const Functions *functions(std::string &why);

} // namespace hbf::nvidia::cufile
