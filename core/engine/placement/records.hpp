// SPDX-License-Identifier: Apache-2.0
// What the scheduler keeps of each block: 28 bytes, at one place for good, in chunks that come as numbers are seen. Chunks
// lie together in slabs of a large page; only what is used of a slab takes memory, and one that is full becomes a large
// page.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "core/engine/placement/heat.hpp"
#include "core/engine/placement/large_pages.hpp"
#include "core/engine/placement/links.hpp"

namespace hbf::kv::placement {

class Records {
public:
    static constexpr BlockId per_chunk = 1024;
    static constexpr uint16_t most_children = UINT16_MAX; // a child beyond them is not counted, and goes when it likes

    // Words of 4 bytes throughout, or it would be 32 large.
    struct Record {
        uint32_t key_low = 0;
        int16_t key_high = static_cast<int16_t>(never_here >> 32); // 48 bits: 2^31 half-lives
        uint16_t weight = 0;
        Link link{};
        BlockId parent = no_block;
        uint16_t children_hbm = 0, children_hbf = 0; // whose hottest copy is there
        uint8_t cost = 0, relevance = 0, uses = 0, flags = 0;

        Key key() const { return static_cast<Key>(static_cast<uint64_t>(Key{key_high}) << 32 | key_low); }
        void set_key(Key key) {
            key_low = static_cast<uint32_t>(key);
            key_high = static_cast<int16_t>(key >> 32);
        }
        static constexpr Key never_here = -(Key{1} << 46); // of a block that was not used yet
    };
    static_assert(sizeof(Record) == 28 && alignof(Record) == 4);
    static constexpr size_t per_slab = large_page / (per_chunk * sizeof(Record)); // chunks

    struct LinkOf {
        const Records *records;
        Link &operator()(BlockId id) const { return (*records)[id].link; }
    };
    struct KeyOf {
        const Records *records;
        uint32_t boost; // octaves of the highest relevance
        Key operator()(BlockId id) const {
            const Record &record = (*records)[id];
            return record.key() + record.cost * (octave / 8) + record.relevance * static_cast<Key>(boost) * (octave / 256);
        }
    };

    bool knows(BlockId id) const { return id / per_chunk < chunks_.size(); }
    Record &operator[](BlockId id) const { return chunks_[id / per_chunk][id % per_chunk]; }
    void grow_to(BlockId id) { // bad_alloc
        while (!knows(id)) add_chunk();
    }
    BlockId end() const { return static_cast<BlockId>(chunks_.size() * per_chunk); }
    size_t bytes() const {
        return chunks_.size() * (per_chunk * sizeof(Record) + sizeof(Record *)) + slabs_.size() * sizeof(Slab);
    }
    void prefetch(BlockId id) const { // both lines, where it lies on two
        if (!knows(id)) return;
        const char *const at = reinterpret_cast<const char *>(&(*this)[id]);
        __builtin_prefetch(at, 1);
        __builtin_prefetch(at + sizeof(Record) - 1, 1);
    }

private:
    struct Unmap {
        void operator()(void *memory) const noexcept { (void)::munmap(memory, large_page); }
    };
    using Slab = std::unique_ptr<void, Unmap>;

    void add_chunk() {
        const size_t slab = chunks_.size() / per_slab, place = chunks_.size() % per_slab;
        if (slab == slabs_.size()) {
            Slab fresh(map_large_pages(large_page, Pages::small_until_joined));
            if (!fresh) throw std::bad_alloc();
            slabs_.push_back(std::move(fresh));
        }
        auto *const chunk = static_cast<Record *>(slabs_[slab].get()) + place * per_chunk;
        chunks_.push_back(chunk);
        std::uninitialized_default_construct_n(chunk, per_chunk);
        if (place + 1 == per_slab) join_pages(slabs_[slab].get());
    }

    std::vector<Record *> chunks_;
    std::vector<Slab> slabs_; // what they point into
};

} // namespace hbf::kv::placement
