// SPDX-License-Identifier: Apache-2.0
// The file of a named region: mode 0600, never through a link, open in one place at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace hbf::sim {

class NamedFile {
public:
    NamedFile() = default;
    // `name` was checked to be plain. Throws INVALID where there is one already, and what the system refuses.
    static NamedFile create(const std::string &folder, const std::string &name, uint64_t size);
    // Throws UNAVAILABLE where there is none, BUSY where it is open, DATA_LOSS where it holds fewer bytes.
    static NamedFile open(const std::string &folder, const std::string &name, uint64_t least);
    NamedFile(NamedFile &&other) noexcept : fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}
    NamedFile &operator=(NamedFile &&other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~NamedFile();

    int fd() const { return fd_; }
    uint64_t size() const { return size_; } // bytes

private:
    NamedFile(int fd, uint64_t size) : fd_(fd), size_(size) {}
    int fd_ = -1;
    uint64_t size_ = 0;
};

} // namespace hbf::sim
