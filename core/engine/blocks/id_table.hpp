// SPDX-License-Identifier: Apache-2.0
// A hash table that holds block numbers only: the key is in the block's record. Four bytes a slot, at most three quarters
// full. Several blocks may have the same key.
#pragma once

#include <cstdint>
#include <vector>

#include "core/engine/types.hpp"

namespace hbf::kv {

class IdTable {
public:
    // So that the next insert() cannot fail. bad_alloc, and then nothing has changed.
    template <class HashOf>
    void make_room(const HashOf &hash_of) {
        if ((filled_ + 1) * 4 > slots_.size() * 3) grow(hash_of);
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
        for (size_t i = hash_of(block) & mask(); !slots_.empty() && slots_[i] != no_block; i = (i + 1) & mask()) {
            if (slots_[i] != block) continue;
            slots_[i] = gone;
            --size_;
            return;
        }
    }

    // The first block of that hash that `is_it(block)` accepts, else no_block.
    template <class IsIt>
    BlockId find(uint64_t hash, const IsIt &is_it) const {
        if (slots_.empty()) return no_block;
        for (size_t i = hash & mask(); slots_[i] != no_block; i = (i + 1) & mask())
            if (slots_[i] != gone && is_it(slots_[i])) return slots_[i];
        return no_block;
    }

    size_t size() const { return size_; }
    uint64_t metadata_bytes() const { return slots_.size() * sizeof(BlockId); }

private:
    static constexpr BlockId gone = no_block - 1;
    size_t mask() const { return slots_.size() - 1; }

    void place(BlockId block, uint64_t hash) {
        size_t i = hash & mask();
        while (slots_[i] != no_block && slots_[i] != gone) i = (i + 1) & mask();
        filled_ += slots_[i] == no_block ? 1 : 0;
        slots_[i] = block;
    }
    template <class HashOf>
    void grow(const HashOf &hash_of) { // or clears out what is gone
        size_t slots = 64;
        while (slots * 3 < (size_ + 1) * 4 * 3 / 2) slots *= 2;
        std::vector<BlockId> old(slots, no_block);
        old.swap(slots_);
        filled_ = 0;
        for (const BlockId block : old)
            if (block < gone) place(block, hash_of(block));
    }

    std::vector<BlockId> slots_;
    size_t size_ = 0, filled_ = 0;
};

} // namespace hbf::kv
