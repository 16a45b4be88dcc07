// SPDX-License-Identifier: Apache-2.0
// From the fingerprint of a block to its number: open addressing, two cache lines at most as a rule, room for a fixed number
// of blocks and no allocation after the first. A fingerprint is 64 bits of a good hash; that two blocks with the same one
// are the same is for whoever holds the identities to check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engine/placement/large_pages.hpp"
#include "core/engine/types.hpp"

namespace hbf::kv::placement {

class Directory {
public:
    explicit Directory(size_t most);

    void prefetch(uint64_t fingerprint) const { __builtin_prefetch(&slots_[home(fingerprint)]); }
    BlockId find(uint64_t fingerprint) const {
        for (size_t at = home(fingerprint); slots_[at].id != no_block; at = (at + 1) & mask_) {
            if (slots_[at].fingerprint == fingerprint) return slots_[at].id;
        }
        return no_block;
    }
    bool insert(uint64_t fingerprint, BlockId id); // not there yet; false if `most` are
    void erase(uint64_t fingerprint);              // no matter whether it is there
    size_t size() const { return size_; }
    size_t bytes() const { return slots_.size() * sizeof(Slot); }

private:
    struct Slot {
        uint64_t fingerprint;
        BlockId id;
    };
    // Multiplied, so that plain numbers spread as well as hashes do.
    size_t home(uint64_t fingerprint) const { return (fingerprint * 0x9e3779b97f4a7c15u) >> shift_; }

    std::vector<Slot, LargePages<Slot>> slots_;
    size_t mask_, size_ = 0, most_;
    int shift_;
};

} // namespace hbf::kv::placement
