// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/chooser.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

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

void Chooser::take_always(const Selection &selection, const KeyIndex &index) {
    uint64_t tokens = 0;
    uint32_t first = 0, last = index.blocks();
    const auto always = [&](uint32_t block) { chosen_[block] = 1; };
    for (; first < last && tokens < selection.sinks; ++first) tokens += index.tokens(first), always(first);
    tokens = 0;
    for (; last > first && tokens < selection.recent; --last) tokens += index.tokens(last - 1), always(last - 1);
    for (uint32_t block = first; block < last; ++block) {
        bool known = index.has_sketch(block);
        for (uint32_t head = 0; head < estimate_.heads(); ++head)
            known = known && estimate_.upper(head, block) < std::numeric_limits<float>::infinity();
        if (!known) always(block);
    }
}

// Marks for a look the best of those not chosen, `count` of them, by the score of the head for which it is highest. Heads
// count alike: each score is taken relative to its head's best.
template <class Score>
void Chooser::take_best(size_t count, const Score &score) {
    std::fill(key_.begin(), key_.end(), -std::numeric_limits<float>::infinity());
    order_.clear();
    for (uint32_t block = 0; block < estimate_.blocks(); ++block)
        if (!chosen_[block]) order_.push_back(block);
    for (uint32_t head = 0; head < estimate_.heads(); ++head) {
        float best = -std::numeric_limits<float>::infinity();
        for (const uint32_t block : order_) best = std::max(best, score(head, block));
        for (const uint32_t block : order_) key_[block] = std::max(key_[block], score(head, block) - best);
    }
    count = std::min(count, order_.size());
    std::nth_element(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count), order_.end(),
                     [&](uint32_t a, uint32_t b) { return key_[a] != key_[b] ? key_[a] > key_[b] : a < b; });
    look_.insert(look_.end(), order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count));
}

void Chooser::find_candidates(const Selection &selection) {
    const auto count =
        std::max<size_t>(static_cast<size_t>(std::ceil(selection.candidates * estimate_.blocks())), selection.least);
    look_.clear();
    take_best((count + 1) / 2, [&](uint32_t head, uint32_t block) { return estimate_.upper(head, block); });
    take_best(count / 2, [&](uint32_t head, uint32_t block) { return estimate_.pooled(head, block); });
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
    for (const uint32_t block : look_) key_[block] = 0;
    sum_.assign(size_t{heads} * 2, 0.0); // largest, then all that is left
    for (uint32_t head = 0; head < heads; ++head) {
        float largest = -std::numeric_limits<float>::infinity();
        double sum = 0;
        for (const uint32_t block : look_) largest = std::max(largest, estimate_.middle(head, block));
        for (const uint32_t block : look_) sum += std::exp(static_cast<double>(estimate_.middle(head, block) - largest));
        const double whole = static_cast<double>(largest) + std::log(sum);
        sum_[2 * head] = whole, sum_[2 * head + 1] = 1;
        for (const uint32_t block : look_)
            key_[block] = std::max(key_[block], static_cast<float>(std::exp(estimate_.middle(head, block) - whole)));
    }
    order_ = look_;
    std::sort(order_.begin(), order_.end(),
              [&](uint32_t a, uint32_t b) { return key_[a] != key_[b] ? key_[a] > key_[b] : a < b; });
    for (size_t i = 0; i < std::min(most, order_.size()); ++i) {
        double left = 0;
        for (uint32_t head = 0; head < heads; ++head) left = std::max(left, sum_[2 * head + 1]);
        if (left <= 1 - selection.mass) break;
        chosen_[order_[i]] = 1;
        for (uint32_t head = 0; head < heads; ++head)
            sum_[2 * head + 1] -= std::exp(estimate_.middle(head, order_[i]) - sum_[2 * head]);
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
    chosen_.assign(index.blocks(), 0), key_.resize(index.blocks());
    estimate_.summarise(index, kv_head, query);
    take_always(selection, index);
    find_candidates(selection);
    if (!look_.empty()) {
        look_at(index);
        take_by_mass(selection);
    }
    return newly_chosen();
}

double Chooser::left_out(uint32_t head, double known) const {
    double sum = 0;
    for (uint32_t block = 0; block < estimate_.blocks(); ++block)
        if (!chosen_[block]) sum += share_of(head, block, known);
    return sum;
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
            for (size_t i = 0; i < count; ++i) chosen_[order_[i]] = 1;
            return newly_chosen();
        }
        std::sort(look_.begin(), look_.end());
        look_at(index);
    }
}

} // namespace hbf::kv
