// SPDX-License-Identifier: Apache-2.0
#include "core/engine/prefetch/lstm.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace hbf::kv::prefetch {
namespace {

constexpr size_t H = Lstm::hidden, C = Lstm::classes;
constexpr size_t gates = 4; // in, forget, out, fresh
// Places in weights_.
constexpr size_t by_class = 0, by_state = by_class + C * gates * H, bias = by_state + H * gates * H, read = bias + gates * H,
                 read_bias = read + C * H, all = read_bias + C;

float sigmoid(float x) {
    return 1 / (1 + std::exp(-x));
}

void soften(std::array<float, C> &scores) {
    const float most = *std::max_element(scores.begin(), scores.end());
    float sum = 0;
    for (float &score : scores) sum += score = std::exp(score - most);
    for (float &score : scores) score /= sum;
}

} // namespace

Lstm::Lstm(uint64_t seed) : weights_(all), squares_(all) {
    std::mt19937_64 dice(seed);
    std::uniform_real_distribution<float> small(-0.2F, 0.2F);
    for (float &weight : weights_) weight = small(dice);
    for (size_t i = 0; i < H; ++i) weights_[bias + H + i] = 1; // it remembers, to begin with
}

std::vector<Lstm::Step> Lstm::forward(Inputs inputs) const {
    std::vector<Step> steps(inputs.size());
    std::array<float, H> state{}, cell{};
    for (size_t t = 0; t < inputs.size(); ++t) {
        Step &step = steps[t];
        step.state_before = state;
        step.cell_before = cell;
        std::array<float, gates * H> sums;
        for (size_t g = 0; g < gates * H; ++g) {
            float sum = weights_[bias + g] + weights_[by_class + inputs[t] * gates * H + g];
            for (size_t i = 0; i < H; ++i) sum += weights_[by_state + i * gates * H + g] * state[i];
            sums[g] = sum;
        }
        for (size_t i = 0; i < H; ++i) {
            step.in[i] = sigmoid(sums[i]);
            step.forget[i] = sigmoid(sums[H + i]);
            step.out[i] = sigmoid(sums[2 * H + i]);
            step.fresh[i] = std::tanh(sums[3 * H + i]);
            cell[i] = step.cell[i] = step.forget[i] * cell[i] + step.in[i] * step.fresh[i];
            state[i] = step.state[i] = step.out[i] * std::tanh(cell[i]);
        }
    }
    return steps;
}

std::array<float, C> Lstm::read_out(const Step *last) const {
    std::array<float, C> scores;
    for (size_t c = 0; c < C; ++c) {
        scores[c] = weights_[read_bias + c];
        for (size_t i = 0; last && i < H; ++i) scores[c] += weights_[read + c * H + i] * last->state[i];
    }
    soften(scores);
    return scores;
}

std::array<float, C> Lstm::probabilities(Inputs inputs) const {
    const auto steps = forward(inputs);
    return read_out(steps.empty() ? nullptr : &steps.back());
}

float Lstm::loss(Inputs inputs, uint8_t next) const {
    return -std::log(std::max(probabilities(inputs)[next], 1e-20F));
}

std::vector<float> Lstm::gradient(Inputs inputs, uint8_t next) const {
    std::vector<float> out(all);
    const auto steps = forward(inputs);
    auto error = read_out(steps.empty() ? nullptr : &steps.back());
    error[next] -= 1;
    std::array<float, H> d_state{}, d_cell{};
    for (size_t c = 0; c < C; ++c) {
        out[read_bias + c] = error[c];
        for (size_t i = 0; !steps.empty() && i < H; ++i) {
            out[read + c * H + i] = error[c] * steps.back().state[i];
            d_state[i] += error[c] * weights_[read + c * H + i];
        }
    }
    for (size_t t = steps.size(); t-- > 0;) {
        const Step &step = steps[t];
        std::array<float, gates * H> d;
        for (size_t i = 0; i < H; ++i) {
            const float curved = std::tanh(step.cell[i]);
            const float dc = d_cell[i] + d_state[i] * step.out[i] * (1 - curved * curved);
            d[i] = dc * step.fresh[i] * step.in[i] * (1 - step.in[i]);
            d[H + i] = dc * step.cell_before[i] * step.forget[i] * (1 - step.forget[i]);
            d[2 * H + i] = d_state[i] * curved * step.out[i] * (1 - step.out[i]);
            d[3 * H + i] = dc * step.in[i] * (1 - step.fresh[i] * step.fresh[i]);
            d_cell[i] = dc * step.forget[i];
        }
        d_state.fill(0);
        for (size_t g = 0; g < gates * H; ++g) {
            out[bias + g] += d[g];
            out[by_class + inputs[t] * gates * H + g] += d[g];
        }
        for (size_t i = 0; i < H; ++i) {
            for (size_t g = 0; g < gates * H; ++g) {
                out[by_state + i * gates * H + g] += d[g] * step.state_before[i];
                d_state[i] += d[g] * weights_[by_state + i * gates * H + g];
            }
        }
    }
    return out;
}

void Lstm::learn(Inputs inputs, uint8_t next) {
    constexpr float rate = 0.02F, decay = 0.999F; // RMSprop
    const auto slopes = gradient(inputs, next);
    for (size_t i = 0; i < all; ++i) {
        squares_[i] = decay * squares_[i] + (1 - decay) * slopes[i] * slopes[i];
        weights_[i] -= rate * slopes[i] / (std::sqrt(squares_[i]) + 1e-2F);
    }
}

uint8_t LstmPrefetch::class_of(int64_t step) {
    size_t rarest = 1;
    for (size_t c = 1; c < C; ++c) {
        if (steps_[c].uses > 0 && steps_[c].step == step) return ++steps_[c].uses, static_cast<uint8_t>(c);
        if (steps_[c].uses < steps_[rarest].uses) rarest = c;
    }
    // A step takes the place of one that has come more rarely than it might: each new one wears that down.
    if (steps_[rarest].uses > 0) --steps_[rarest].uses;
    if (steps_[rarest].uses == 0) return steps_[rarest] = {step, 1}, static_cast<uint8_t>(rarest);
    return 0;
}

std::vector<uint8_t> LstmPrefetch::inputs(const Reader &reader) {
    const size_t steps = reader.count_ > 0 ? reader.count_ - 1 : 0, kept = std::min(steps, window);
    std::vector<uint8_t> out(kept);
    for (size_t i = 0; i < kept; ++i) out[i] = reader.steps_[(steps - kept + i) % window];
    return out;
}

void LstmPrefetch::access(Reader &reader, BlockId block) {
    if (reader.count_ > 0) {
        const uint8_t next = class_of(int64_t{block} - int64_t{reader.last_});
        lstm_.learn(inputs(reader), next);
        reader.steps_[(reader.count_ - 1) % window] = next;
    }
    reader.last_ = block;
    ++reader.count_;
}

size_t LstmPrefetch::next(const Reader &reader, std::span<Guess> out) const {
    auto seen = inputs(reader);
    int64_t at = reader.last_;
    float sure = 1;
    for (size_t k = 0; k < out.size(); ++k) {
        const auto likely = lstm_.probabilities(seen);
        const auto best = static_cast<size_t>(std::max_element(likely.begin(), likely.end()) - likely.begin());
        at += steps_[best].step;
        sure *= likely[best];
        if (best == 0 || at < 0 || at >= int64_t{no_block}) return k;
        out[k] = {static_cast<BlockId>(at), sure};
        if (seen.size() == window) seen.erase(seen.begin());
        seen.push_back(static_cast<uint8_t>(best));
    }
    return out.size();
}

} // namespace hbf::kv::prefetch
