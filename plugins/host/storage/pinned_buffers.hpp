// SPDX-License-Identifier: Apache-2.0
// Which memory is registered with one ring, and in which slot of its table.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace hbf::host {

// The most one ring pins: RLIMIT_MEMLOCK, and a bound of our own.
uint64_t pinned_limit();

class BufferRegistrar {
public:
    virtual ~BufferRegistrar() = default;
    // {nullptr, 0} empties the slot. 0 or a negative errno.
    virtual int set_slot(unsigned slot, std::byte *address, uint64_t size) noexcept = 0;
};

class PinnedBuffers {
public:
    static constexpr unsigned slots = 64;

    void enable(BufferRegistrar &registrar, uint64_t limit); // without it nothing is ever pinned

    // [any thread] Bytes pinned of the range, from its start: as many as limit, kernel and slots allow.
    uint64_t add(std::byte *address, uint64_t size);
    // [any thread] Before the memory goes away, and with no I/O on it.
    void remove(std::byte *address) noexcept;

    // [the engine's thread] Slot that holds all of the range, or -1.
    int find(const std::byte *data, uint64_t size);

private:
    struct Range {
        std::byte *begin = nullptr;
        uint64_t size = 0;
    };
    using Table = std::array<Range, slots>;

    BufferRegistrar *registrar_ = nullptr;
    uint64_t limit_ = 0, pinned_ = 0;
    std::mutex mutex_; // table_, pinned_
    Table table_{};
    std::atomic<uint64_t> generation_{0}; // grows with each change of table_

    // The engine's own copy: find takes the lock only after a change.
    Table seen_{};
    uint64_t seen_generation_ = 0;
    unsigned used_ = 0, last_ = 0;
};

} // namespace hbf::host
