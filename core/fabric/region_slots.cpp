// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/region_slots.hpp"

#include <new>

namespace hbf::fabric {

CrcRecords &RegionSlot::ensure_records() {
    if (CrcRecords *have = records.load(std::memory_order_acquire)) return *have;
    auto fresh = std::make_unique<CrcRecords>(size);
    CrcRecords *none = nullptr;
    if (records.compare_exchange_strong(none, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
    return *none;
}

RegionSlots::~RegionSlots() {
    for (auto &entry : chunks_) {
        RegionSlot *chunk = entry.load(std::memory_order_relaxed);
        if (chunk == nullptr) break;
        for (uint32_t i = 0; i < per_chunk; ++i) {
            delete chunk[i].records.load(std::memory_order_relaxed);
            for (PeerRegistration *peer = chunk[i].peers.load(std::memory_order_relaxed); peer != nullptr;) {
                PeerRegistration *next = peer->next;
                delete peer;
                peer = next;
            }
        }
        delete[] chunk;
    }
}

uint32_t RegionSlots::take() {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
        const uint32_t index = free_.back();
        free_.pop_back();
        return index;
    }
    if (used_ == per_chunk * max_chunks) throw std::bad_alloc(); // 2^20 regions of one device live
    free_.reserve(used_ + 1);                                    // so that giving back never allocates
    if (used_ % per_chunk == 0 && chunk_of(used_) == nullptr)
        chunks_[used_ / per_chunk].store(new RegionSlot[per_chunk], std::memory_order_release);
    return used_++;
}

uint32_t RegionSlots::next_generation(uint32_t index) const {
    return static_cast<uint32_t>(at(index).state.load(std::memory_order_relaxed) >> 32) + 1;
}

uint32_t RegionSlots::publish(uint32_t index) noexcept {
    const uint32_t generation = next_generation(index);
    at(index).state.store(uint64_t{generation} << 32, std::memory_order_release);
    return generation;
}

void RegionSlots::give_back(uint32_t index) noexcept {
    RegionSlot &slot = at(index);
    if (slot.state.load(std::memory_order_relaxed) >> 32 == UINT32_MAX) return; // its generations are used up
    delete slot.records.exchange(nullptr, std::memory_order_relaxed);
    slot.name.clear();
    std::lock_guard lock(mutex_);
    free_.push_back(index);
}

RegionSlot *RegionSlots::pin(uint32_t index, uint32_t generation) noexcept {
    if (index >= per_chunk * max_chunks) return nullptr;
    RegionSlot *chunk = chunk_of(index);
    if (chunk == nullptr) return nullptr;
    RegionSlot &slot = chunk[index % per_chunk];
    uint64_t state = slot.state.load(std::memory_order_relaxed);
    do {
        if (state >> 32 != generation || (state & RegionSlot::closed) != 0) return nullptr;
    } while (!slot.state.compare_exchange_weak(state, state + 1, std::memory_order_acquire, std::memory_order_relaxed));
    return &slot;
}

Code RegionSlots::close(uint32_t index, uint32_t generation) noexcept {
    if (index >= per_chunk * max_chunks || chunk_of(index) == nullptr) return Code::invalid;
    RegionSlot &slot = at(index);
    uint64_t state = slot.state.load(std::memory_order_relaxed);
    do {
        if (state >> 32 != generation) return Code::invalid;
        if ((state & RegionSlot::closed) != 0) return Code::invalid; // freed, or another thread is freeing it
        if ((state & RegionSlot::count_mask) != 0) return Code::busy;
    } while (!slot.state.compare_exchange_weak(state, state | RegionSlot::closed, std::memory_order_acquire,
                                               std::memory_order_relaxed));
    return Code::ok;
}

void RegionSlots::reopen(uint32_t index) noexcept {
    at(index).state.fetch_and(~RegionSlot::closed, std::memory_order_release);
}

} // namespace hbf::fabric
