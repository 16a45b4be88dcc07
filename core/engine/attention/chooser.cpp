// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/chooser.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/engine/attention/summary_score.hpp"

namespace hbf::kv {

Result<> check_selection(const Selection &selection) {
    const auto share = [](double value) { return value >= 0 && value <= 1; }; // NaN is none
    const std::pair<const char *, double> shares[] = {{"candidates", selection.candidates},
                                                      {"mass", selection.mass},
                                                      {"most", selection.most},
                                                      {"target", selection.target},
                                                      {"give_up", selection.give_up}};
    for (const auto &[name, value] : shares)
        if (!share(value)) return fail(Code::invalid, fmt::format("{} is {}: it must be from 0 to 1", name, value));
    if (selection.target == 1) return fail(Code::invalid, "target is 1: then all may be missed, and 0 says so");
    return {};
}

void Chooser::choose_block(uint32_t block) {
    chosen_[block] = 1, free_[block] = 0;
}

void Chooser::take_all() {
    chosen_.assign(chosen_.size(), 2), free_.assign(free_.size(), 0);
    chosen_count_ = static_cast<uint32_t>(chosen_.size());
}

void Chooser::take_always(const Selection &selection, const KeyIndex &index) {
    uint64_t tokens = 0;
    uint32_t first = 0, last = index.blocks();
    for (; first < last && tokens < selection.sinks; ++first) tokens += index.tokens(first), choose_block(first);
    tokens = 0;
    for (; last > first && tokens < selection.recent; --last) tokens += index.tokens(last - 1), choose_block(last - 1);
    for (uint32_t block = first; block < last && !index.all_have_sketches(); ++block)
        if (!index.has_sketch(block)) choose_block(block);
    for (uint32_t head = 0; head < estimate_.heads(); ++head) {
        const float *const upper = estimate_.uppers(head);
        uint32_t unknown = 0;
        for (uint32_t block = first; block < last; ++block)
            unknown += upper[block] < std::numeric_limits<float>::infinity() ? 0 : 1;
        for (uint32_t block = first; block < last && unknown != 0; ++block)
            if (!(upper[block] < std::numeric_limits<float>::infinity())) choose_block(block);
    }
}

// Marks for a look the best of those not chosen, `count` of them, by the score of the head for which it is highest. Heads
// count alike: each score is taken relative to its head's best. `order_` is a heap of the best so far, the worst on top.
void Chooser::take_best(size_t count, const float *scores) {
    if (count == 0) return;
    best_of_heads(scores, estimate_.heads(), estimate_.padded(), estimate_.padded(), free_.data(), key_.data());
    const auto better = [&](uint32_t a, uint32_t b) { return key_[a] != key_[b] ? key_[a] > key_[b] : a < b; };
    order_.clear();
    float least = -std::numeric_limits<float>::infinity(); // of the heap, once it is full
    for (uint32_t block = 0; block < estimate_.blocks(); ++block) {
        if (!(key_[block] > least) && (order_.size() == count || free_[block] == 0)) continue;
        if (order_.size() == count) {
            std::pop_heap(order_.begin(), order_.end(), better);
            order_.pop_back();
        }
        order_.push_back(block);
        std::push_heap(order_.begin(), order_.end(), better);
        if (order_.size() == count) least = key_[order_.front()];
    }
    look_.insert(look_.end(), order_.begin(), order_.end());
}

void Chooser::find_candidates(const Selection &selection) {
    const auto count =
        std::max<size_t>(static_cast<size_t>(std::ceil(selection.candidates * estimate_.blocks())), selection.least);
    look_.clear();
    take_best((count + 1) / 2, estimate_.uppers());
    take_best(count / 2, estimate_.pooleds());
    std::sort(look_.begin(), look_.end());
    look_.erase(std::unique(look_.begin(), look_.end()), look_.end());
}

void Chooser::look_at(const KeyIndex &index) {
    estimate_.look_at(index, look_);
    looked_at_ += static_cast<uint32_t>(look_.size());
}

// Candidates by the largest share that any head gives them, until each head has the mass it was to have.
void Chooser::take_by_mass(const Selection &selection) {
    const uint32_t heads = estimate_.heads();
    const auto most = std::max<size_t>(static_cast<size_t>(selection.most * estimate_.blocks()), selection.least);
    weight_.resize(look_.size() * heads); // shares of the candidates' mass
    order_.resize(look_.size());
    std::iota(order_.begin(), order_.end(), 0u); // of look_
    for (uint32_t head = 0; head < heads; ++head) {
        float largest = -std::numeric_limits<float>::infinity();
        for (const uint32_t block : look_) largest = std::max(largest, estimate_.middle(head, block));
        double sum = 0;
        for (const uint32_t i : order_) {
            double &weight = weight_[i * heads + head];
            weight = std::exp(static_cast<double>(estimate_.middle(head, look_[i]) - largest));
            sum += weight;
        }
        for (const uint32_t i : order_) weight_[i * heads + head] /= sum;
    }
    const auto best_share = [&](uint32_t i) { return *std::max_element(&weight_[i * heads], &weight_[i * heads] + heads); };
    std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
        const double of_a = best_share(a), of_b = best_share(b);
        return of_a != of_b ? of_a > of_b : a < b;
    });
    sum_.assign(heads, 1.0); // what is left
    for (size_t taken = 0; taken < std::min(most, order_.size()); ++taken) {
        if (*std::max_element(sum_.begin(), sum_.end()) <= 1 - selection.mass) break;
        choose_block(look_[order_[taken]]);
        for (uint32_t head = 0; head < heads; ++head) sum_[head] -= weight_[order_[taken] * heads + head];
    }
}

std::span<const uint32_t> Chooser::newly_chosen() {
    list_.clear();
    for (uint32_t block = 0; block < chosen_.size(); ++block)
        if (chosen_[block] == 1) list_.push_back(block), chosen_[block] = 2;
    chosen_count_ += static_cast<uint32_t>(list_.size());
    return list_;
}

std::span<const uint32_t> Chooser::choose(const Selection &selection, const KeyIndex &index, uint32_t kv_head,
                                          const float *query) {
    kv_head_ = kv_head, chosen_count_ = looked_at_ = 0;
    estimate_.summarise(index, kv_head, query);
    chosen_.assign(index.blocks(), 0), key_.resize(estimate_.padded());
    free_.assign(estimate_.padded(), 0), std::fill_n(free_.begin(), index.blocks(), 1.0f);
    take_always(selection, index);
    find_candidates(selection);
    if (!look_.empty()) {
        look_at(index);
        take_by_mass(selection);
    }
    return newly_chosen();
}

double Chooser::left_out(uint32_t head, double known) const {
    if (chosen_count_ == estimate_.blocks()) return 0;
    return sum_of_masses(estimate_.uppers(head), estimate_.padded(), free_.data(), known);
}

double Chooser::value_norm_left_out(const KeyIndex &index) const {
    float norm = 0;
    for (uint32_t block = 0; block < estimate_.blocks(); ++block)
        if (!chosen_[block]) norm = std::max(norm, index.value_norm(block, kv_head_));
    return static_cast<double>(norm);
}

double Chooser::share_of(uint32_t head, uint32_t block, double known) const {
    return std::exp(static_cast<double>(estimate_.upper(head, block)) - known);
}

// How many of the first of order_ have to be taken, so that for each head those after them weigh at most `allowed` parts of
// what is known then. Sums begin with the lightest, and what is taken counts with the least that it can weigh, if that is
// known at all: taking it will show.
size_t Chooser::needed(double allowed, std::span<const double> known) {
    const size_t heads = known.size();
    sum_.assign((order_.size() + 1) * heads, 0.0); // of those from a block on
    for (size_t i = order_.size(); i-- != 0;)
        for (uint32_t head = 0; head < heads; ++head)
            sum_[i * heads + head] = sum_[(i + 1) * heads + head] + share_of(head, order_[i], known[head]);
    taken_.assign(heads, 1.0);
    for (size_t count = 0; count < order_.size(); ++count) {
        bool enough = true;
        for (uint32_t head = 0; head < heads; ++head)
            enough = enough && sum_[count * heads + head] <= allowed * taken_[head];
        if (enough) return count;
        const uint32_t block = order_[count];
        for (uint32_t head = 0; head < heads && estimate_.looked_at(block); ++head)
            taken_[head] += std::exp(2 * static_cast<double>(estimate_.middle(head, block)) -
                                     static_cast<double>(estimate_.upper(head, block)) - known[head]);
    }
    return order_.size();
}

std::span<const uint32_t> Chooser::choose_more(const KeyIndex &index, double target, std::span<const double> known) {
    const double allowed = target / (1 - target) * (1 - 1e-9); // of what is known
    for (;;) {
        order_.clear(), look_.clear();
        for (uint32_t block = 0; block < estimate_.blocks(); ++block) {
            if (chosen_[block]) continue;
            order_.push_back(block);
            key_[block] = 0;
            for (uint32_t head = 0; head < known.size(); ++head)
                key_[block] = std::max(key_[block], static_cast<float>(share_of(head, block, known[head])));
        }
        std::sort(order_.begin(), order_.end(),
                  [&](uint32_t a, uint32_t b) { return key_[a] != key_[b] ? key_[a] > key_[b] : a < b; });
        const size_t count = needed(allowed, known);
        for (size_t i = 0; i < count; ++i)
            if (!estimate_.looked_at(order_[i])) look_.push_back(order_[i]);
        if (look_.empty()) {
            for (size_t i = 0; i < count; ++i) choose_block(order_[i]);
            return newly_chosen();
        }
        std::sort(look_.begin(), look_.end());
        look_at(index);
    }
}

} // namespace hbf::kv
