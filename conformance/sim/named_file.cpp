// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/named_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::sim {
namespace {

[[noreturn]] void fail_errno(const std::string &path, int error) {
    const hbf_status status = error == ENOENT                      ? HBF_UNAVAILABLE
                              : error == EEXIST || error == ELOOP  ? HBF_INVALID
                              : error == EACCES || error == EPERM  ? HBF_PERMISSION
                              : error == EWOULDBLOCK               ? HBF_BUSY
                              : error == ENOSPC || error == EMFILE ? HBF_EXHAUSTED
                                                                   : HBF_INTERNAL;
    sdk::fail(status, fmt::format("named region {}: {}", path, std::strerror(error)));
}

void lock(int fd, const std::string &path) {
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) fail_errno(path, errno);
}

} // namespace

NamedFile NamedFile::create(const std::string &folder, const std::string &name, uint64_t size) {
    const std::string path = folder + "/" + name;
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) fail_errno(path, errno);
    NamedFile file(fd, size);
    lock(fd, path);
    if (::ftruncate(fd, static_cast<off_t>(size)) != 0) {
        const int error = errno;
        ::unlink(path.c_str());
        fail_errno(path, error);
    }
    return file;
}

NamedFile NamedFile::open(const std::string &folder, const std::string &name, uint64_t least) {
    const std::string path = folder + "/" + name;
    const int fd = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) fail_errno(path, errno);
    NamedFile file(fd, 0);
    lock(fd, path);
    struct stat info{};
    if (::fstat(fd, &info) != 0) fail_errno(path, errno);
    file.size_ = static_cast<uint64_t>(info.st_size);
    if (!S_ISREG(info.st_mode) || file.size_ < least)
        sdk::fail(HBF_DATA_LOSS, fmt::format("named region {} holds {} bytes, not {}", path, file.size_, least), 0,
                  file.size_);
    return file;
}

NamedFile::~NamedFile() {
    if (fd_ >= 0) ::close(fd_);
}

} // namespace hbf::sim
