// SPDX-License-Identifier: Apache-2.0
// The file of a named region: mode 0600, never through a link, open in one place at a time. A new one has its name only once
// it is closed; until then, and for good if its writer dies, nobody finds it.
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
    NamedFile(NamedFile &&other) noexcept
        : fd_(std::exchange(other.fd_, -1)), size_(other.size_), name_(std::exchange(other.name_, {})),
          temporary_(std::move(other.temporary_)), kept_(other.kept_) {}
    NamedFile &operator=(NamedFile &&other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(size_, other.size_);
        std::swap(name_, other.name_);
        std::swap(temporary_, other.temporary_);
        std::swap(kept_, other.kept_);
        return *this;
    }
    // A new one goes without a trace, unless it was said to be kept: then it gets its name.
    ~NamedFile();
    void keep() { kept_ = true; }

    int fd() const { return fd_; }
    uint64_t size() const { return size_; } // bytes

private:
    NamedFile(int fd, uint64_t size) : fd_(fd), size_(size) {}
    int fd_ = -1;
    uint64_t size_ = 0;
    std::string name_, temporary_; // of a new one: paths to come, and until then
    bool kept_ = false;
};

} // namespace hbf::sim
