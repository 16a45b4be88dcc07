// SPDX-License-Identifier: Apache-2.0
// The system calls that move bytes outside io_uring, as a table, so that tests can make them fall short.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace hbf::host {

struct IoCalls {
    ssize_t (*read)(int fd, void *data, size_t size, off_t offset);
    ssize_t (*write)(int fd, const void *data, size_t size, off_t offset);
};

extern const IoCalls system_io; // pread, pwrite; interrupted calls are repeated

// Moves `size` bytes or says how far it came: fewer and no error means that the file ends, or that the device takes no more.
struct IoOutcome {
    uint64_t moved = 0;
    int error = 0; // errno
};
IoOutcome read_fully(const IoCalls &calls, int fd, std::byte *data, uint64_t size, uint64_t offset);
IoOutcome write_fully(const IoCalls &calls, int fd, const std::byte *data, uint64_t size, uint64_t offset);

} // namespace hbf::host
