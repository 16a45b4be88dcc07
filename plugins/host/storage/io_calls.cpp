// SPDX-License-Identifier: Apache-2.0
#include "io_calls.hpp"

#include <cerrno>

#include <unistd.h>

namespace hbf::host {
namespace {

ssize_t system_read(int fd, void *data, size_t size, off_t offset) {
    ssize_t moved;
    do {
        moved = ::pread(fd, data, size, offset);
    } while (moved < 0 && errno == EINTR);
    return moved;
}

ssize_t system_write(int fd, const void *data, size_t size, off_t offset) {
    ssize_t moved;
    do {
        moved = ::pwrite(fd, data, size, offset);
    } while (moved < 0 && errno == EINTR);
    return moved;
}

template <class Call>
IoOutcome repeat(uint64_t size, Call call) {
    IoOutcome outcome;
    while (outcome.moved < size) {
        ssize_t moved = call(outcome.moved);
        if (moved < 0) outcome.error = errno;
        if (moved <= 0) break;
        outcome.moved += static_cast<uint64_t>(moved);
    }
    return outcome;
}

} // namespace

const IoCalls system_io{system_read, system_write};

IoOutcome read_fully(const IoCalls &calls, int fd, std::byte *data, uint64_t size, uint64_t offset) {
    return repeat(
        size, [&](uint64_t done) { return calls.read(fd, data + done, size - done, static_cast<off_t>(offset + done)); });
}

IoOutcome write_fully(const IoCalls &calls, int fd, const std::byte *data, uint64_t size, uint64_t offset) {
    return repeat(
        size, [&](uint64_t done) { return calls.write(fd, data + done, size - done, static_cast<off_t>(offset + done)); });
}

} // namespace hbf::host
