// SPDX-License-Identifier: Apache-2.0
// Process-wide numbers of devices and queues. A number is never used again, and what it leads to is asked for through a weak
// reference: a closed device or queue is an answer, not a crash. Never destroyed, so that a process may exit at any point.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

namespace hbf::fabric {

// Append-only, found by number without a lock. Number 0 is nothing.
template <class Entry>
class NumberTable {
public:
    // Throws bad_alloc. The entry is found from publish on.
    struct Draft {
        uint32_t number;
        Entry *entry;
    };
    Draft add() {
        std::lock_guard lock(mutex_);
        const uint32_t number = next_;
        if (number == 0) throw std::bad_alloc(); // 2^32 were given out
        std::atomic<Shelf *> &shelf = shelves_[number / per_shelf];
        if (shelf.load(std::memory_order_relaxed) == nullptr) shelf.store(new Shelf, std::memory_order_release);
        std::atomic<Entry *> &chunk = shelf.load(std::memory_order_relaxed)->chunks[number / per_chunk % chunks_per_shelf];
        if (chunk.load(std::memory_order_relaxed) == nullptr) chunk.store(new Entry[per_chunk], std::memory_order_release);
        ++next_;
        return {number, &chunk.load(std::memory_order_relaxed)[number % per_chunk]};
    }

    // The entry, whatever its state, or nullptr for a number that was never given out.
    Entry *find(uint32_t number) noexcept {
        if (number == 0) return nullptr;
        Shelf *shelf = shelves_[number / per_shelf].load(std::memory_order_acquire);
        if (shelf == nullptr) return nullptr;
        Entry *chunk = shelf->chunks[number / per_chunk % chunks_per_shelf].load(std::memory_order_acquire);
        if (chunk == nullptr) return nullptr;
        Entry &entry = chunk[number % per_chunk];
        return entry.published.load(std::memory_order_acquire) ? &entry : nullptr;
    }

private:
    // Two steps, so that a process that makes queue after queue for months does not come to an end of them.
    static constexpr uint32_t per_chunk = 256, chunks_per_shelf = 4096, per_shelf = per_chunk * chunks_per_shelf;
    struct Shelf {
        std::array<std::atomic<Entry *>, chunks_per_shelf> chunks{};
    };
    std::array<std::atomic<Shelf *>, 4096> shelves_{};
    std::mutex mutex_;
    uint32_t next_ = 1;
};

class DeviceCore;
struct DeviceEntry {
    std::atomic<bool> published{false};
    std::weak_ptr<DeviceCore> core; // written once, before published
};
NumberTable<DeviceEntry> &device_table();

// The device, or nullptr: never opened, or closed. No lock.
std::shared_ptr<DeviceCore> find_device(uint32_t number) noexcept;

} // namespace hbf::fabric
