// SPDX-License-Identifier: Apache-2.0
// What is known of every block: one record each, at one address for as long as the table lives. Where a block's bytes are is
// one atomic word that readers load without a lock; the rest belongs to whoever has the cache's lock.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "core/engine/types.hpp"

namespace hbf::kv {

// Tier and granule of a block's bytes, and how often they were published elsewhere: no two states of a block look alike.
class BlockPlace {
public:
    BlockPlace() = default;
    explicit BlockPlace(uint64_t word) : word_(word) {}
    BlockPlace(uint64_t generation, Tier tier, uint64_t granule)
        : word_(generation << 40 | static_cast<uint64_t>(tier) << 38 | granule) {}
    static BlockPlace nowhere(uint64_t generation) { return BlockPlace(generation << 40 | uint64_t{3} << 38); }

    bool somewhere() const { return (word_ >> 38 & 3) != 3; }
    Tier tier() const { return static_cast<Tier>(word_ >> 38 & 3); }
    uint64_t granule() const { return word_ & ((uint64_t{1} << 38) - 1); }
    uint64_t generation() const { return word_ >> 40; }
    uint64_t next_generation() const { return (generation() + 1) & 0xffffff; }
    uint64_t word() const { return word_; }
    bool operator==(const BlockPlace &) const = default;

private:
    uint64_t word_ = uint64_t{3} << 38;
};

struct BlockRecord {
    std::atomic<uint64_t> place{BlockPlace().word()}; // seq_cst: the epochs depend on it
    uint64_t lower = BlockPlace().word();             // a copy that was kept in a colder tier
    Identity identity;                                // none while it is being filled
    uint32_t references = 0;                          // of sequences, and of blocks that have their bytes here
    uint32_t first = 0;                               // position of its first token
    // Whose bytes these are; never of one that has this itself. Set when it is sealed. Of a free number: the next free one.
    BlockId same_as = no_block;
    std::atomic<uint16_t> tokens{0};
    std::atomic<bool> lost{false}; // no copy of its bytes is right
    // Under the lock, all of them.
    bool used : 1 = false, sealed : 1 = false, indexed : 1 = false;
    bool moving : 1 = false;   // somebody copies it: it is not freed meanwhile,
    bool dead : 1 = false;     // but afterwards
    uint16_t : 0;              // what follows is read without the lock: a memory location of its own
    uint16_t capacity : 9 = 0; // tokens, of the same layout for good
    uint16_t tenant : 7 = 0;   // its number
    uint16_t granules = 0;
    uint16_t layer = 0, group = 0;
};
static_assert(sizeof(BlockRecord) <= 72, "metadata of a block: with indexes, lists, the granule's words and heat 128 bytes");

class BlockTable {
public:
    static constexpr uint32_t per_chunk = 1024, most_chunks = 65536;

    BlockTable() : chunks_(std::make_unique<std::atomic<BlockRecord *>[]>(most_chunks)) {}
    ~BlockTable() {
        for (uint32_t i = 0; i < chunk_count_; ++i) delete[] chunks_[i].load();
    }
    BlockTable(const BlockTable &) = delete;
    BlockTable &operator=(const BlockTable &) = delete;

    BlockId take(); // bad_alloc; no_block: as many as there may be
    void give_back(BlockId block);

    // Of a block that somebody holds. [any thread]
    BlockRecord &operator[](BlockId block) const {
        return chunks_[block / per_chunk].load(std::memory_order_acquire)[block % per_chunk];
    }
    // nullptr: there is no such block. [under the lock]
    BlockRecord *find(BlockId block) const {
        if (block / per_chunk >= chunk_count_ || !(*this)[block].used) return nullptr;
        return &(*this)[block];
    }
    uint64_t size() const { return count_; }
    uint64_t end() const { return uint64_t{chunk_count_} * per_chunk; } // numbers are below it
    uint64_t metadata_bytes() const { return end() * sizeof(BlockRecord) + most_chunks * sizeof(void *); }

private:
    std::unique_ptr<std::atomic<BlockRecord *>[]> chunks_;
    BlockId free_ = no_block; // the first of a list through same_as
    uint32_t chunk_count_ = 0;
    uint64_t count_ = 0;
};

} // namespace hbf::kv
