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

// No region's name begins with a dot, so this is nobody's.
std::string unfinished(const std::string &folder, const std::string &name) {
    return folder + "/." + name + ".new";
}

void lock(int fd, const std::string &path) {
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) fail_errno(path, errno);
}

} // namespace

NamedFile NamedFile::create(const std::string &folder, const std::string &name, uint64_t size) {
    const std::string path = folder + "/" + name, temporary = unfinished(folder, name);
    struct stat info{};
    if (::lstat(path.c_str(), &info) == 0) fail_errno(path, EEXIST);
    const int fd = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) fail_errno(temporary, errno);
    NamedFile file(fd, size);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) fail_errno(path, errno == EWOULDBLOCK ? EEXIST : errno); // it is being made
    file.name_ = path;
    file.temporary_ = temporary;
    // What a writer that died left in it goes.
    if (::ftruncate(fd, 0) != 0 || ::ftruncate(fd, static_cast<off_t>(size)) != 0) fail_errno(path, errno);
    return file;
}

NamedFile NamedFile::open(const std::string &folder, const std::string &name, uint64_t least) {
    const std::string path = folder + "/" + name;
    const int fd = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        const int error = errno;
        const int made = ::open(unfinished(folder, name).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (made < 0) fail_errno(path, error);
        const NamedFile other(made, 0);
        lock(made, path);                           // BUSY while it is being made
        ::unlink(unfinished(folder, name).c_str()); // its writer died
        fail_errno(path, error);
    }
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
    if (fd_ < 0) return;
    // Under the lock that a maker of the same name needs.
    if (!name_.empty() && (!kept_ || ::rename(temporary_.c_str(), name_.c_str()) != 0)) ::unlink(temporary_.c_str());
    ::close(fd_);
}

} // namespace hbf::sim
