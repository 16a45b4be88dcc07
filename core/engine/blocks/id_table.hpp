// SPDX-License-Identifier: Apache-2.0
// A hash table that holds block numbers only: the key is in the block's record. Four bytes a slot, 80 to 90 % full once it
// has grown: six of their bits are of the hash, so that few records are looked at on the way. Several blocks may have the
// same key. Numbers are below 2^26.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/engine/types.hpp"

namespace hbf::kv {

class IdTable {
public:
    // So that the next insert() cannot fail. bad_alloc, and then nothing has changed.
    template <class HashOf>
    void make_room(const HashOf &hash_of) {
        if ((filled_ + 1) * 10 > slots_.size() * 9) grow(hash_of);
    }

    // `hash_of(block)` for every block in the table must not change while it is there.
    template <class HashOf>
    void insert(BlockId block, const HashOf &hash_of) {
        make_room(hash_of);
        place(block, hash_of(block));
        ++size_;
    }

    template <class HashOf>
    void erase(BlockId block, const HashOf &hash_of) {
        if (slots_.empty()) return;
        const uint64_t hash = hash_of(block);
        const uint32_t wanted = slot_of(block, hash);
        for (size_t i = home(hash); slots_[i] != none; i = after(i)) {
            if (slots_[i] != wanted) continue;
            slots_[i] = gone;
            --size_;
            return;
        }
    }

    // The first block of that hash that `is_it(block)` accepts, else no_block.
    template <class IsIt>
    BlockId find(uint64_t hash, const IsIt &is_it) const {
        if (slots_.empty()) return no_block;
        const uint32_t tag = slot_of(0, hash);
        for (size_t i = home(hash); slots_[i] != none; i = after(i))
            if ((slots_[i] & ~id_bits) == tag && is_it(slots_[i] & id_bits)) return slots_[i] & id_bits;
        return no_block;
    }

    size_t size() const { return size_; }
    uint64_t metadata_bytes() const { return slots_.size() * sizeof(uint32_t); }

private:
    static constexpr uint32_t id_bits = (1u << 26) - 1, none = UINT32_MAX, gone = none - 1;
    // With one of 63 tags: none and gone have the other.
    static uint32_t slot_of(BlockId block, uint64_t hash) { return static_cast<uint32_t>(hash % 63) << 26 | block; }
    // Any number of slots: a power of two would leave half of them empty on the way to the next.
    size_t home(uint64_t hash) const {
        return static_cast<size_t>((hash * 0x9e3779b97f4a7c15u >> 32) * slots_.size() >> 32);
    }
    size_t after(size_t slot) const { return slot + 1 == slots_.size() ? 0 : slot + 1; }

    void place(BlockId block, uint64_t hash) {
        size_t i = home(hash);
        while (slots_[i] != none && slots_[i] != gone) i = after(i);
        filled_ += slots_[i] == none ? 1 : 0;
        slots_[i] = slot_of(block, hash);
    }
    template <class HashOf>
    void grow(const HashOf &hash_of) { // or clears out what is gone
        std::vector<uint32_t> old(std::max<size_t>(64, size_ + size_ / 4 + 1), none);
        old.swap(slots_);
        filled_ = 0;
        for (const uint32_t slot : old)
            if (slot < gone) place(slot & id_bits, hash_of(slot & id_bits));
    }

    std::vector<uint32_t> slots_;
    size_t size_ = 0, filled_ = 0;
};

} // namespace hbf::kv
