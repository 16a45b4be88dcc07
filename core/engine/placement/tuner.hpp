// SPDX-License-Identifier: Apache-2.0
// Which half-life serves this traffic best at this capacity: small shadow caches, one for each candidate, see a sample of
// the blocks and count the tokens that they would have served. A block is in the sample by its number, for all candidates
// alike; a shadow is smaller than the cache by the rate of the sample. Heat is closed over prefixes, so a block that is here
// is usable.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/placement/directory.hpp"
#include "core/engine/placement/heat_queue.hpp"
#include "core/engine/placement/policy.hpp"

namespace hbf::kv::placement {

struct Candidate {
    double half_life;        // in requests
    bool second_use = false; // admits a block when it is used for the second time
};

// What AHAS chooses from, and what it begins with. `lower`: a level that gets what another gives up.
std::vector<Candidate> standard_candidates(bool lower);
constexpr size_t standard_candidate = 3;

class Tuner {
public:
    // `known`: blocks that are remembered at most, here or as ghosts. Starts with candidate `first`.
    Tuner(std::vector<Candidate> candidates, size_t first, size_t capacity, size_t known);

    void request(Path path);
    void forget(BlockId id);
    const Candidate &best() const { return candidates_[best_]; }

    struct Standing {
        Candidate candidate;
        double served; // tokens of the sample, those of long ago counting less
        bool chosen;
    };
    std::vector<Standing> standings() const;
    size_t bytes() const {
        return cells_.size() * sizeof(Cell) + held_.size() * (sizeof held_[0] + sizeof uses_[0] + sizeof(BlockId)) +
               slots_.bytes() + shadows_.size() * (sizeof(Shadow) + HeatQueue<LinkOf, KeyOf>::fixed_bytes);
    }
    size_t sample_rate() const { return size_t{1} << sample_bits_; } // one block in so many

private:
    struct Cell { // a block in a shadow
        Key key;
        Link link;
    };
    struct Of {
        std::vector<Cell> *cells;
        size_t width, which;
        Cell &cell(BlockId slot) const { return (*cells)[slot * width + which]; }
    };
    struct LinkOf : Of {
        Link &operator()(BlockId slot) const { return this->cell(slot).link; }
    };
    struct KeyOf : Of {
        Key operator()(BlockId slot) const { return this->cell(slot).key; }
    };
    struct Shadow {
        HeatQueue<LinkOf, KeyOf> queue;
        Key now, pace;
        double served, written;
    };
    struct Sampled {
        BlockId slot;
        uint32_t tokens;
    };

    // From one on: number 0, often the hottest of all, would be in every sample.
    bool sampled(BlockId id) const { return (((id + 1) * 0x9e3779b1u) >> 8 & ((1u << sample_bits_) - 1)) == 0; }
    BlockId slot_of(BlockId id);
    void use(const std::vector<Sampled> &blocks);
    void choose();

    std::vector<Candidate> candidates_;
    size_t best_, capacity_;
    int sample_bits_ = 0;
    Directory slots_; // by block number
    std::vector<Cell> cells_;
    std::vector<uint16_t> held_; // a bit for each candidate
    std::vector<uint8_t> uses_;
    std::vector<BlockId> free_;
    std::vector<std::unique_ptr<Shadow>> shadows_;
    std::vector<Sampled> batch_;
    uint64_t requests_ = 0;
    uint32_t full_block_ = 0; // tokens of the largest seen
};

} // namespace hbf::kv::placement
