// SPDX-License-Identifier: Apache-2.0
// Which blocks the query heads of one KV head need: the sinks and the recent window always, then those that two stages find.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/attention/estimate.hpp"

namespace hbf::kv {

struct Selection {
    uint32_t sinks = 16;         // tokens at the beginning, in whole blocks, always attended
    uint32_t recent = 512;       // tokens at the end, likewise
    double candidates = 1.0 / 8; // share of the blocks whose sketches are looked at: half of them by their bounds, half by
                                 // their pooled keys
    double mass = 0.99;          // of the candidates' estimated attention, after which no more blocks are taken
    double most = 1.0 / 32;      // share of the blocks that is taken at most, though `least` blocks may always be
    uint32_t least = 8;          // blocks
    double target = 0;           // 0: none. Else a certificate: missed mass is at most this, whatever that costs
    double give_up = 0.5;        // certified: once more than this share would be attended, all of it is
};

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
    void take_all() { chosen_.assign(chosen_.size(), 2), chosen_count_ = static_cast<uint32_t>(chosen_.size()); }

    // Of those not chosen: upper bound of their mass in parts of exp(known), and the largest norm of their values.
    double left_out(uint32_t head, double known) const;
    double value_norm_left_out(const KeyIndex &index) const;

    const Estimate &estimate() const noexcept { return estimate_; }
    uint32_t chosen() const noexcept { return chosen_count_; } // blocks, all rounds together
    uint32_t looked_at() const noexcept { return looked_at_; } // sketches, likewise

private:
    void take_always(const Selection &selection, const KeyIndex &index);
    void find_candidates(const Selection &selection);
    template <class Score>
    void take_best(size_t count, const Score &score);
    void look_at(const KeyIndex &index);
    void take_by_mass(const Selection &selection);
    double share_of(uint32_t head, uint32_t block, double known) const; // at most, in parts of exp(known)
    size_t needed(double allowed, std::span<const double> known);
    std::span<const uint32_t> newly_chosen(); // in order

    Estimate estimate_;
    uint32_t kv_head_ = 0, chosen_count_ = 0, looked_at_ = 0;
    std::vector<uint8_t> chosen_;               // of each block
    std::vector<uint32_t> list_, order_, look_; // what a call returns; scratch
    std::vector<float> key_;                    // of each block: what it is sorted by
    std::vector<double> sum_, taken_;
};

} // namespace hbf::kv
