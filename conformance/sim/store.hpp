// SPDX-License-Identifier: Apache-2.0
// Where a region's bytes really are: the device's own memory, which copy engines read and write, and agents see through
// their caches. Shadow is the CPU's cache of a software domain: private memory that the CPU is given for the store's, so
// that nothing moves between the two but by flush and invalidate, whatever the machine below would do.
//
// Any thread may call any of it at any time; commands that conflict without an order leave one or the other's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "conformance/sim/mapping.hpp"

namespace hbf::sim {

class Store {
public:
    static constexpr uint64_t piece = 64 * 1024; // what a hole is counted in

    // `sparse`: only read() and write() reach it, so what was never written is known to be zero without a look.
    Store(Mapping memory, bool sparse);

    void read(uint64_t offset, std::byte *to, uint64_t size) const noexcept;
    void write(uint64_t offset, const std::byte *from, uint64_t size) noexcept;
    bool hole(uint64_t offset, uint64_t size) const noexcept; // nothing of it was ever written
    std::byte *at(uint64_t offset) const noexcept { return memory_.at(offset); }
    uint64_t size() const noexcept { return memory_.size(); }

private:
    Mapping memory_;
    Mapping touched_; // a byte a piece, none if not sparse
};

class Shadow {
public:
    Shadow(uint64_t size, uint64_t alignment, uint64_t line) : memory_(Mapping::zeroed(size, alignment)), line_(line) {}

    // Whole lines around the range; what the CPU had stored beside it in the same line goes the same way.
    void flush(Store &store, uint64_t offset, uint64_t size) noexcept;      // copies the CPU's bytes out
    void invalidate(Store &store, uint64_t offset, uint64_t size) noexcept; // copies the device's bytes in
    std::byte *at(uint64_t offset) const noexcept { return memory_.at(offset); }

private:
    Mapping memory_;
    uint64_t line_;
};

} // namespace hbf::sim
