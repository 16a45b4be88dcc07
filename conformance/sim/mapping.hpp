// SPDX-License-Identifier: Apache-2.0
// A range of address space, unmapped at its end. Untouched pages cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace hbf::sim {

class Mapping {
public:
    Mapping() = default;
    static Mapping zeroed(uint64_t size, uint64_t alignment); // private, reads as zero; throws EXHAUSTED
    static Mapping of_file(int fd, uint64_t size);            // shared: stores reach the file; throws EXHAUSTED
    static Mapping borrowed(void *at, uint64_t size);         // the caller's, who keeps it
    Mapping(Mapping &&other) noexcept
        : at_(std::exchange(other.at_, nullptr)), size_(std::exchange(other.size_, 0)), owned_(other.owned_) {}
    Mapping &operator=(Mapping &&other) noexcept {
        std::swap(at_, other.at_);
        std::swap(size_, other.size_);
        std::swap(owned_, other.owned_);
        return *this;
    }
    ~Mapping();

    std::byte *at(uint64_t offset) const noexcept { return at_ + offset; }
    uint64_t size() const noexcept { return size_; }

private:
    std::byte *at_ = nullptr;
    uint64_t size_ = 0;
    bool owned_ = true;
};

} // namespace hbf::sim
