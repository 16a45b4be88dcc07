// SPDX-License-Identifier: Apache-2.0
// Which blocks the query heads of one KV head need: the sinks and the recent window always, then those that two stages find.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/attention/estimate.hpp"
#include "hbf/kv_attend.hpp"

namespace hbf::kv {

// Code::invalid, with the member and its value.
Result<> check_selection(const Selection &selection);

// One thread at a time. Once warmed, nothing is allocated.
class Chooser {
public:
    // Blocks that are always attended (also those without a sketch, or with keys that are not finite), and those that the
    // stages find, one list in the blocks' order.
    std::span<const uint32_t> choose(const Selection &selection, const KeyIndex &index, uint32_t kv_head,
                                     const float *query);

    // More of them, for a certificate: blocks without which the rest weighs at most `target` of the whole by the bounds,
    // where `known[head]` is the logarithm of the mass attended so far. In the blocks' order; empty if none is needed.
    std::span<const uint32_t> choose_more(const KeyIndex &index, double target, std::span<const double> known);

    // All the others as well: nothing is left out.
    void take_all();

    // Of those not chosen: upper bound of their mass in parts of exp(known), and the largest norm of their values.
    double left_out(uint32_t head, double known) const;
    double value_norm_left_out(const KeyIndex &index) const;

    const Estimate &estimate() const noexcept { return estimate_; }
    uint32_t chosen() const noexcept { return chosen_count_; } // blocks, all rounds together
    uint32_t looked_at() const noexcept { return looked_at_; } // sketches, likewise

private:
    void take_always(const Selection &selection, const KeyIndex &index);
    void find_candidates(const Selection &selection);
    void take_best(size_t count, const float *scores);
    void choose_block(uint32_t block);
    void look_at(const KeyIndex &index);
    void take_by_mass(const Selection &selection);
    double share_of(uint32_t head, uint32_t block, double known) const; // at most, in parts of exp(known)
    size_t needed(double allowed, std::span<const double> known);
    std::span<const uint32_t> newly_chosen(); // in order

    Estimate estimate_;
    uint32_t kv_head_ = 0, chosen_count_ = 0, looked_at_ = 0;
    std::vector<uint8_t> chosen_;               // of each block: 1 in this round, 2 before
    std::vector<float> free_;                   // 1 where nothing is chosen, else 0, and beyond the last block
    std::vector<uint32_t> list_, order_, look_; // what a call returns; scratch
    std::vector<float> key_;                    // of each block: what it is sorted by
    std::vector<double> sum_, taken_, weight_;
};

} // namespace hbf::kv
