// SPDX-License-Identifier: Apache-2.0
// A file descriptor that closes itself. The core has one too: a plugin is built with what is installed of the SDK, and the
// core needs nothing of a plugin, so neither can include the other's.
#pragma once

#include <utility>

#include <unistd.h>

namespace hbf::host {

class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd &operator=(Fd &&other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Fd() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

} // namespace hbf::host
