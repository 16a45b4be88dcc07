// SPDX-License-Identifier: Apache-2.0
#include "directory_file.hpp"

#include <cerrno>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "io_error.hpp"

namespace hbf::host {

DirectoryFile::~DirectoryFile() {
    facts_.directory->discard(facts_.file);
    no_longer_pending();
}

void DirectoryFile::no_longer_pending() {
    if (auto call = std::exchange(facts_.when_not_pending, nullptr)) call();
}

void DirectoryFile::publish() {
    if (facts_.name.empty()) return;
    std::lock_guard lock(publishing_);
    // The kernel tells of a failed write-back once and then forgets the pages: asked again, it would call them written.
    const auto keep = [this](int error) {
        if (write_back_error_ == 0) write_back_error_ = error;
        if (write_back_error_ != 0) fail_errno("cannot write back", shape().label, write_back_error_);
    };
    keep(::fsync(shape().fd) == 0 ? 0 : errno);
    if (!facts_.published) {
        facts_.directory->give_name(facts_.file, facts_.name); // if not, it can be tried again
        facts_.published = true;
        no_longer_pending();
    }
    keep(facts_.directory->write_back());
}

uint64_t DirectoryFile::bytes_held() const noexcept {
    struct stat info{};
    if (::fstat(shape().fd, &info) != 0) return shape().stored; // the I/O itself will tell
    const auto size = static_cast<uint64_t>(info.st_size);
    if (size < shape().stored) return size;
    // Truncated and grown again: the size is right, the bytes are not.
    if (facts_.blocks_told && static_cast<uint64_t>(info.st_blocks) * 512 < shape().stored) return 0;
    return shape().stored;
}

} // namespace hbf::host
