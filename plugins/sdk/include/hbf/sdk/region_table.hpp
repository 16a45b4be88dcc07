// SPDX-License-Identifier: Apache-2.0
// Generation-checked handles for regions, with in-flight counts: stale handles and busy frees for free.
//
// Handle = generation (32 bit, never 0) | slot + 1 (32 bit). A slot's whole state is one atomic word, generation | live |
// pins, so take() and pin() decide between themselves by one compare-and-swap: once take() succeeded no pin() of that
// handle can, and while a pin is held take() is BUSY. Slots never move and are never given back before the table dies,
// and free ones are reused oldest first, so a stale handle matches again only after 2^32 reuses of its slot.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "hbf/abi/tier.h"
#include "hbf/sdk/failure.hpp"

namespace hbf::sdk {

template <class T>
class RegionTable {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "take() must not lose an entry half-way");

public:
    static constexpr uint32_t capacity = 1u << 20; // live regions

    explicit RegionTable(uint32_t first_generation = 1) : first_generation_(first_generation ? first_generation : 1) {}
    ~RegionTable() {
        drain([](T &) {});
        for (auto &chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
    }
    RegionTable(const RegionTable &) = delete;
    RegionTable &operator=(const RegionTable &) = delete;

    // [any thread] Takes a lock, may allocate. Throws EXHAUSTED when `capacity` regions live, bad_alloc.
    hbf_region insert(T value) {
        std::lock_guard lock(mutex_);
        uint32_t index = head_;
        if (index == none) {
            if (used_ == capacity) fail(HBF_EXHAUSTED, "too many regions live at once (2^20)");
            index = used_;
            make_chunk(index / chunk_size);
            ++used_;
        } else {
            head_ = at(index).next;
            if (head_ == none) tail_ = none;
        }
        Slot &slot = at(index);
        ::new (static_cast<void *>(slot.storage)) T(std::move(value));
        const uint64_t generation = slot.state.load(std::memory_order_relaxed) & generation_mask;
        slot.state.store(generation | live, std::memory_order_release);
        return generation | (index + 1);
    }

    // [any thread] No lock, no allocation. nullptr if stale. The entry stays only as long as nobody takes it: where
    // another thread may, pin() instead.
    T *find(hbf_region region) noexcept {
        Slot *slot = lookup(region);
        return slot && is_live(slot->state.load(std::memory_order_acquire), region) ? slot->value() : nullptr;
    }

    // [any thread] find, and one more command in flight: the entry stays until unpin. nullptr if stale.
    T *pin(hbf_region region) noexcept {
        Slot *slot = lookup(region);
        if (!slot) return nullptr;
        uint64_t state = slot->state.load(std::memory_order_relaxed);
        do {
            if (!is_live(state, region) || (state & pin_mask) == pin_mask) return nullptr;
        } while (!slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acquire, std::memory_order_relaxed));
        return slot->value();
    }

    // [any thread] Ends one pin. A handle that is not pinned is left alone.
    void unpin(hbf_region region) noexcept {
        Slot *slot = lookup(region);
        if (!slot) return;
        uint64_t state = slot->state.load(std::memory_order_relaxed);
        do {
            if (!is_live(state, region) || (state & pin_mask) == 0) return;
        } while (!slot->state.compare_exchange_weak(state, state - 1, std::memory_order_release, std::memory_order_relaxed));
    }

    // [any thread] Ends the handle and gives the entry back. Throws INVALID if stale, BUSY while pinned.
    T take(hbf_region region) {
        return take(region, [](T &) {});
    }

    // The same, but `first` is called with the entry while nobody else can reach it. If it throws, the handle is live again
    // and nothing has happened.
    template <class First>
    T take(hbf_region region, First &&first) {
        Slot *slot = lookup(region);
        uint64_t state = (region & generation_mask) | live; // no pins
        if (slot && slot->state.compare_exchange_strong(state, state & generation_mask, std::memory_order_acq_rel,
                                                        std::memory_order_relaxed)) {
            try {
                first(*slot->value());
            } catch (...) {
                slot->state.store((region & generation_mask) | live, std::memory_order_release);
                throw;
            }
            return recycle(*slot, index_of(region));
        }
        if (slot && is_live(state, region)) fail(HBF_BUSY, "the region is used by work in flight", region);
        fail(HBF_INVALID, "stale region handle: freed before, or never made here", region);
    }

    // For destroy, when no work is in flight: hands every live entry to `each`, pinned or not, and empties the table.
    // If `each` throws, that entry is gone and the rest is still here.
    void drain(const std::function<void(T &)> &each) {
        for (uint32_t index = 0; index < used(); ++index) {
            Slot &slot = at(index);
            const uint64_t state = slot.state.load(std::memory_order_acquire);
            if (!(state & live)) continue;
            slot.state.store(state & generation_mask, std::memory_order_relaxed);
            T value = recycle(slot, index);
            each(value);
        }
    }

private:
    static constexpr uint32_t chunk_size = 1024, none = UINT32_MAX;
    static constexpr uint64_t generation_mask = 0xffffffff00000000u, live = 0x80000000u, pin_mask = 0x7fffffffu;

    struct Slot {
        std::atomic<uint64_t> state{0};
        uint32_t next = none; // free list, under mutex_
        alignas(T) std::byte storage[sizeof(T)];
        T *value() noexcept { return std::launder(reinterpret_cast<T *>(storage)); }
    };
    static_assert(std::atomic<uint64_t>::is_always_lock_free);

    static uint32_t index_of(hbf_region region) noexcept { return static_cast<uint32_t>(region) - 1; }
    static bool is_live(uint64_t state, hbf_region region) noexcept {
        return (state & live) && ((state ^ region) & generation_mask) == 0;
    }

    Slot &at(uint32_t index) noexcept {
        return chunks_[index / chunk_size].load(std::memory_order_acquire)[index % chunk_size];
    }
    Slot *lookup(hbf_region region) noexcept {
        const uint32_t index = index_of(region); // slot + 1 == 0 wraps to a number past capacity
        if (index >= capacity) return nullptr;
        Slot *chunk = chunks_[index / chunk_size].load(std::memory_order_acquire);
        return chunk ? chunk + index % chunk_size : nullptr;
    }
    uint32_t used() {
        std::lock_guard lock(mutex_);
        return used_;
    }

    void make_chunk(uint32_t number) {
        if (chunks_[number].load(std::memory_order_relaxed)) return;
        auto chunk = std::make_unique<Slot[]>(chunk_size);
        for (uint32_t i = 0; i < chunk_size; ++i)
            chunk[i].state.store(uint64_t{first_generation_} << 32, std::memory_order_relaxed);
        chunks_[number].store(chunk.release(), std::memory_order_release);
    }

    // The slot is neither live nor free here: no one else touches it.
    T recycle(Slot &slot, uint32_t index) {
        T value(std::move(*slot.value()));
        slot.value()->~T();
        uint32_t generation = static_cast<uint32_t>(slot.state.load(std::memory_order_relaxed) >> 32) + 1;
        if (generation == 0) generation = 1;
        std::lock_guard lock(mutex_);
        slot.state.store(uint64_t{generation} << 32, std::memory_order_relaxed);
        slot.next = none;
        if (tail_ == none)
            head_ = index;
        else
            at(tail_).next = index;
        tail_ = index;
        return value;
    }

    std::array<std::atomic<Slot *>, capacity / chunk_size> chunks_{};
    std::mutex mutex_;
    uint32_t head_ = none, tail_ = none; // free slots, oldest first
    uint32_t used_ = 0;                  // slots ever handed out
    const uint32_t first_generation_;
};

} // namespace hbf::sdk
