// SPDX-License-Identifier: Apache-2.0
// The coldest block first, for blocks whose heat mostly grows. A block stays where it was put when it is used: only its key
// changes. Whoever asks for the coldest looks at the front, and what turns out to be hotter moves to where it belongs. So a
// use costs no more than its own record, and each move is paid for by at least one use before it.
//
// Buckets of 1/16 octave in a ring of 256 octaves around the present, with a bitmap over them. What falls behind the ring is
// gathered in its coldest bucket, in its order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "core/engine/placement/heat.hpp"
#include "core/engine/placement/links.hpp"

namespace hbf::kv::placement {

// `KeyOf` gives what a block counts for: its key and what is added to it.
template <class LinkOf, class KeyOf>
class HeatQueue {
    static constexpr int64_t buckets = 4096;

public:
    static constexpr size_t fixed_bytes = buckets * sizeof(Link); // of its own, however many stand in it

    HeatQueue(LinkOf link_of, KeyOf key_of) : links_(link_of, buckets), key_of_(key_of) {}

    // Keys are around `now`; it never goes back.
    void advance(Key now) {
        const int64_t base = (now >> width_bits) - below;
        if (base <= base_) return;
        // The hottest first: what is gathered later is colder and goes before it.
        for (int64_t at = std::min(base, base_ + buckets) - 1; at >= base_; --at) gather(list_of(at), list_of(base));
        base_ = base;
    }

    void put(BlockId id) {
        const uint32_t list = list_of(place_of(key_of_(id)));
        links_.push_back(list, id);
        mark(list);
        ++size_;
    }
    void remove(BlockId id) {
        links_.take_out(id);
        --size_;
    }
    // The coldest, which stays in; no_block if there is none.
    BlockId coldest() {
        while (const auto found = coldest_bucket(base_)) {
            const BlockId id = links_.front(found->list);
            const int64_t place = place_of(key_of_(id));
            if (place <= found->place) return id;
            links_.take_out(id);
            const uint32_t list = list_of(place);
            links_.push_back(list, id);
            mark(list);
        }
        return no_block;
    }
    size_t size() const { return size_; }

private:
    static constexpr int width_bits = key_bits - 4;
    static constexpr int64_t below = 224 * 16; // 32 octaves above the present
    struct Found {
        int64_t place;
        uint32_t list;
    };

    static uint32_t list_of(int64_t place) { return static_cast<uint32_t>(place & (buckets - 1)); }
    int64_t place_of(Key key) const { return std::clamp<int64_t>(key >> width_bits, base_, base_ + buckets - 1); }
    void mark(uint32_t list) {
        words_[list / 64] |= uint64_t{1} << list % 64;
        word_of_words_ |= uint64_t{1} << list / 64;
    }
    void unmark(uint32_t list) {
        words_[list / 64] &= ~(uint64_t{1} << list % 64);
        if (words_[list / 64] == 0) word_of_words_ &= ~(uint64_t{1} << list / 64);
    }
    void gather(uint32_t from, uint32_t to) {
        if ((words_[from / 64] >> from % 64 & 1) == 0) return;
        if (from != to) links_.move_before(from, to), unmark(from);
        mark(to);
    }
    // The first marked list at or after `at` in the ring.
    uint32_t next_marked(uint32_t at) const {
        const uint64_t here = words_[at / 64] >> at % 64;
        if (here != 0) return at + static_cast<uint32_t>(std::countr_zero(here));
        const uint64_t later = at / 64 == 63 ? 0 : word_of_words_ >> (at / 64 + 1) << (at / 64 + 1);
        const uint64_t words = later != 0 ? later : word_of_words_; // round the end of the ring
        const auto word = static_cast<uint32_t>(std::countr_zero(words));
        return word * 64 + static_cast<uint32_t>(std::countr_zero(words_[word]));
    }
    std::optional<Found> coldest_bucket(int64_t base) {
        while (word_of_words_ != 0) {
            const uint32_t list = next_marked(list_of(base));
            if (links_.empty(list)) {
                unmark(list);
                continue;
            }
            return Found{base + ((list - list_of(base)) & (buckets - 1)), list};
        }
        return std::nullopt;
    }

    Links<LinkOf> links_;
    KeyOf key_of_;
    std::array<uint64_t, 64> words_{};
    uint64_t word_of_words_ = 0;
    int64_t base_ = -below;
    size_t size_ = 0;
};

} // namespace hbf::kv::placement
