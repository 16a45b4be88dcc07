// SPDX-License-Identifier: Apache-2.0
#include "preallocate.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "io_calls.hpp"
#include "io_error.hpp"

namespace hbf::host {
namespace {

// Where the file system has no fallocate: real zeros, written in aligned pieces.
int write_zeros(int fd, uint64_t size) {
    constexpr uint64_t piece = 1u << 20;
    std::unique_ptr<void, decltype(&std::free)> zeros(std::aligned_alloc(65536, piece), &std::free);
    if (!zeros) return ENOMEM;
    std::memset(zeros.get(), 0, piece);
    for (uint64_t done = 0; done < size; done += piece) {
        const uint64_t now = std::min(piece, size - done);
        IoOutcome written = write_fully(system_io, fd, static_cast<std::byte *>(zeros.get()), now, done);
        if (written.error) return written.error;
        if (written.moved < now) return ENOSPC;
    }
    return 0;
}

} // namespace

void preallocate(int fd, uint64_t size, const std::string &label) {
    // Beyond this limit the kernel sends SIGXFSZ, which ends a process that does not expect it.
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{}: {} bytes are more than the file size limit of {} (ulimit -f)", label, size,
                                             static_cast<uint64_t>(limit.rlim_cur)));
    int error;
    do {
        error = ::fallocate(fd, 0, 0, static_cast<off_t>(size)) == 0 ? 0 : errno;
    } while (error == EINTR);
    if (error == EOPNOTSUPP || error == ENOSYS) error = write_zeros(fd, size);
    if (error == 0) return;
    struct statvfs disk{};
    if (status_of_errno(error) == HBF_EXHAUSTED && ::fstatvfs(fd, &disk) == 0)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{}: {} bytes wanted, {} free: {}", label, size,
                                             static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize, std::strerror(error)));
    fail_errno("cannot allocate", label, error);
}

} // namespace hbf::host
