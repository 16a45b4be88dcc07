// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/tuner.hpp"

#include <algorithm>

namespace hbf::kv::placement {
namespace {
// Blocks of a shadow at most. A large cache is told apart by fewer: what they cost is paid by each access.
constexpr size_t shadow_target(size_t capacity) {
    return capacity > size_t{1} << 17 ? 1024 : 4096;
}
constexpr size_t batch_most = 256;
constexpr uint64_t choose_every = 32;         // requests
constexpr double served_half_life = 512;      // requests
constexpr double margin = 1.003;              // by how much another must be better, and besides by
constexpr double margin_blocks = 16;          // full ones: a few hits more are no proof
constexpr double price_of_a_write = 1.0 / 64; // of a block, against serving it
} // namespace

// Below 16 requests nothing differs from "the latest"; what is remembered longer than 1024 was better nowhere.
std::vector<Candidate> standard_candidates(bool lower) {
    std::vector<Candidate> all;
    for (const double half_life : {16.0, 64.0, 256.0, 512.0, 1024.0}) all.push_back({half_life, false});
    if (lower) {
        for (size_t i = 0; i < 5; ++i) all.push_back({all[i].half_life, true});
    }
    return all;
}

Tuner::Tuner(std::vector<Candidate> candidates, size_t first, size_t capacity, size_t known)
    : candidates_(std::move(candidates)), best_(first), capacity_(capacity), slots_(0) {
    while (capacity >> sample_bits_ > shadow_target(capacity)) ++sample_bits_;
    capacity_ = std::max<size_t>(1, capacity >> sample_bits_);
    const size_t most = (known >> sample_bits_) + (sample_bits_ > 0 ? (known >> sample_bits_) / 4 + 256 : 0);
    slots_ = Directory(most);
    cells_.resize(most * candidates_.size());
    held_.resize(most);
    uses_.resize(most);
    free_.resize(most);
    for (size_t i = 0; i < most; ++i) free_[i] = static_cast<BlockId>(most - 1 - i);
    for (size_t i = 0; i < candidates_.size(); ++i) {
        const Of of{&cells_, candidates_.size(), i};
        shadows_.push_back(
            std::make_unique<Shadow>(Shadow{{LinkOf{of}, KeyOf{of}}, 0, pace_of(candidates_[i].half_life), 0, 0}));
    }
    batch_.reserve(batch_most);
}

BlockId Tuner::slot_of(BlockId id) {
    if (const BlockId slot = slots_.find(id); slot != no_block) return slot;
    if (free_.empty()) return no_block; // the sample is full: this one is not in it
    const BlockId slot = free_.back();
    free_.pop_back();
    slots_.insert(id, slot);
    for (size_t i = 0; i < shadows_.size(); ++i) cells_[slot * shadows_.size() + i].key = never;
    held_[slot] = 0;
    uses_[slot] = 0;
    return slot;
}

void Tuner::forget(BlockId id) {
    if (!sampled(id)) return;
    const BlockId slot = slots_.find(id);
    if (slot == no_block) return;
    for (size_t i = 0; i < shadows_.size(); ++i) {
        if ((held_[slot] >> i & 1) != 0) shadows_[i]->queue.remove(slot);
    }
    slots_.erase(id);
    free_.push_back(slot);
}

void Tuner::request(Path path) {
    for (auto &shadow : shadows_) {
        shadow->now += shadow->pace;
        shadow->queue.advance(shadow->now);
    }
    for (const auto &[id, tokens] : path) {
        if (!sampled(id)) continue;
        const BlockId slot = slot_of(id);
        if (slot == no_block) continue;
        batch_.push_back({slot, tokens});
        if (batch_.size() < batch_most) continue;
        use(batch_);
        batch_.clear();
    }
    use(batch_);
    batch_.clear();
    if (++requests_ % choose_every == 0) choose();
}

void Tuner::use(const std::vector<Sampled> &blocks) {
    for (const auto &[slot, tokens] : blocks) {
        full_block_ = std::max(full_block_, tokens);
        uses_[slot] = static_cast<uint8_t>(std::min(255, uses_[slot] + 1));
    }
    for (size_t i = 0; i < shadows_.size(); ++i) {
        Shadow &shadow = *shadows_[i];
        const auto bit = static_cast<uint16_t>(1u << i);
        for (const auto &[slot, tokens] : blocks) {
            Cell &cell = cells_[slot * shadows_.size() + i];
            cell.key = add_use(cell.key, shadow.now);
            if ((held_[slot] & bit) != 0) shadow.served += tokens;
        }
        // The deepest first, so that among equals it goes first.
        for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
            if ((held_[block->slot] & bit) != 0 || (candidates_[i].second_use && uses_[block->slot] < 2)) continue;
            if (shadow.queue.size() >= capacity_) {
                const BlockId out = shadow.queue.coldest();
                shadow.queue.remove(out);
                held_[out] = static_cast<uint16_t>(held_[out] & ~bit);
            }
            shadow.queue.put(block->slot);
            held_[block->slot] |= bit;
            shadow.written += block->tokens;
        }
    }
}

void Tuner::choose() {
    const auto worth = [&](size_t i) { return shadows_[i]->served - price_of_a_write * shadows_[i]->written; };
    size_t best = 0;
    for (size_t i = 1; i < shadows_.size(); ++i) {
        if (worth(i) > worth(best)) best = i;
    }
    if (worth(best) > worth(best_) * margin + margin_blocks * full_block_) best_ = best;
    static const double fade = std::exp2(-static_cast<double>(choose_every) / served_half_life);
    for (auto &shadow : shadows_) {
        shadow->served *= fade;
        shadow->written *= fade;
    }
}

std::vector<Tuner::Standing> Tuner::standings() const {
    std::vector<Standing> all;
    for (size_t i = 0; i < candidates_.size(); ++i) all.push_back({candidates_[i], shadows_[i]->served, i == best_});
    return all;
}

} // namespace hbf::kv::placement
