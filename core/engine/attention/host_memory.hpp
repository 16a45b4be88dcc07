// SPDX-License-Identifier: Apache-2.0
// Whole pages of this process, for devices and drives to write into.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "hbf/status.hpp"

namespace hbf::kv {

class HostMemory {
public:
    static Result<HostMemory> take(size_t size); // all zero
    HostMemory() = default;
    HostMemory(HostMemory &&other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    HostMemory &operator=(HostMemory &&other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~HostMemory();

    std::span<std::byte> bytes() const noexcept { return bytes_; }

private:
    std::span<std::byte> bytes_;
};

} // namespace hbf::kv
