// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/calls.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace hbf::kv::cold {
namespace {

int allocate(int fd, uint64_t size) {
    // Beyond this limit the kernel sends SIGXFSZ, which ends a process that does not expect it.
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur) return EFBIG;
    int error = 0;
    do {
        error = posix_fallocate(fd, 0, static_cast<off_t>(size));
    } while (error == EINTR);
    return error;
}

Result<> io_error(const char *what, const std::string &file, uint64_t offset, int error) {
    return fail(code_of_io(error), fmt::format("{}: cannot be {} at {}: {}", file, what, offset, std::strerror(error)),
                offset, file);
}

} // namespace

const Calls &system_calls() {
    static const Calls calls{
        [](int fd, void *data, size_t size, uint64_t offset) -> int64_t {
            return pread(fd, data, size, static_cast<off_t>(offset));
        },
        [](int fd, const void *data, size_t size, uint64_t offset) -> int64_t {
            return pwrite(fd, data, size, static_cast<off_t>(offset));
        },
        allocate,
        [](int fd) { return fdatasync(fd) == 0 ? 0 : errno; },
    };
    return calls;
}

Code code_of_io(int error) noexcept {
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
        return Code::exhausted;
    case EACCES:
    case EPERM:
    case EROFS:
        return Code::permission;
    default:
        return Code::data_loss;
    }
}

Result<> read_at(const Calls &calls, int fd, void *data, size_t size, uint64_t offset, const std::string &file) {
    auto *to = static_cast<std::byte *>(data);
    while (size > 0) {
        const int64_t count = calls.read(fd, to, size, offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return io_error("read", file, offset, errno);
        if (count == 0) return fail(Code::data_loss, fmt::format("{}: ends at {}, too early", file, offset), offset, file);
        to += count;
        size -= static_cast<size_t>(count);
        offset += static_cast<uint64_t>(count);
    }
    return {};
}

Result<> write_at(const Calls &calls, int fd, const void *data, size_t size, uint64_t offset, const std::string &file) {
    const auto *from = static_cast<const std::byte *>(data);
    while (size > 0) {
        const int64_t count = calls.write(fd, from, size, offset);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return io_error("written", file, offset, count < 0 ? errno : ENOSPC);
        from += count;
        size -= static_cast<size_t>(count);
        offset += static_cast<uint64_t>(count);
    }
    return {};
}

Result<> sync_file(const Calls &calls, int fd, const std::string &file) {
    for (;;) {
        const int error = calls.sync(fd);
        if (error == 0) return {};
        if (error == EINTR) continue;
        return fail(code_of_io(error), fmt::format("{}: cannot be brought to the medium: {}", file, std::strerror(error)),
                    no_place, file);
    }
}

} // namespace hbf::kv::cold
