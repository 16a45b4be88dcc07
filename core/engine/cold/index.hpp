// SPDX-License-Identifier: Apache-2.0
// Key -> where its bytes are. Dense records and a table of their numbers: 70 to 76 bytes a granule, as much again while it
// grows; its segment keeps 8 more (store.hpp). Blocks are digests, and so hash themselves: numbers in a row would stand in
// one long row here, too, which makes erasing slow.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/engine/cold/format.hpp"

namespace hbf::kv::cold {

struct Place {
    uint32_t segment = 0;    // its number
    uint32_t page = 0;       // of the first byte, from the segment's begin
    uint32_t length = 0;     // bytes
    uint32_t crc = 0;        // of them
    uint64_t generation = 0; // the writer's
    uint64_t offset() const { return page * page_size; }
    bool operator==(const Place &) const = default;
};

class Index { // [the caller's lock]
public:
    struct Record {
        Key key;
        uint32_t touched = 0; // since it was put there; set under a shared lock, hence only by atomic_ref
        Place place;
    };

    Record *find(const Key &key) noexcept;
    const Record *find(const Key &key) const noexcept { return const_cast<Index *>(this)->find(key); }
    // New or in the old one's stead. Throws std::bad_alloc, and then nothing has changed.
    void put(const Key &key, const Place &place);
    bool erase(const Key &key) noexcept;
    void clear() noexcept;
    size_t size() const noexcept { return records_.size(); }
    void reserve(size_t granules); // for that many nothing is allocated later

    static uint64_t hash(const Key &key) noexcept;
    template <class Visit>
    void for_each_of_hash(uint64_t hash_of_key, Visit visit) const { // a few at most
        if (slots_.empty()) return;
        const size_t mask = slots_.size() - 1;
        for (size_t slot = hash_of_key & mask; slots_[slot] != 0; slot = (slot + 1) & mask)
            if (const Record &record = records_[slots_[slot] - 1]; hash(record.key) == hash_of_key) visit(record);
    }
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Record &record : records_) visit(record);
    }
    template <class Doomed>
    size_t erase_if(Doomed doomed) {
        size_t erased = 0;
        for (size_t i = records_.size(); i > 0; --i) { // from behind: erasing moves the last one into the gap
            if (!doomed(std::as_const(records_[i - 1]))) continue;
            erase(Key(records_[i - 1].key));
            ++erased;
        }
        return erased;
    }

private:
    size_t slot_of(const Key &key) const noexcept; // where it is, or the empty one where it would be
    void rehash(size_t slots);

    std::vector<Record> records_;
    std::vector<uint32_t> slots_; // 0: empty, else record + 1; linear probing, no gravestones
};
static_assert(sizeof(Index::Record) == 64);

} // namespace hbf::kv::cold
