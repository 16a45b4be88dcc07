// SPDX-License-Identifier: Apache-2.0
// What SmartPrefetch is compared with: a long short-term memory (Hochreiter, Schmidhuber, 1997) over the same window of 20
// accesses. As in "Learning Memory Access Patterns" (Hashemi et al., ICML 2018) it reads and predicts the step from one
// block's number to the next, as one of a few classes. It trains after each access, back through the whole window: tens of
// microseconds, so it is for comparison, not for serving.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/prefetch/smart.hpp"

namespace hbf::kv::prefetch {

class Lstm {
public:
    static constexpr size_t hidden = 24, classes = 32; // class 0: any step that has no class of its own

    explicit Lstm(uint64_t seed = 1);
    using Inputs = std::span<const uint8_t>; // classes, oldest first, at most `window`
    std::array<float, classes> probabilities(Inputs inputs) const;
    void learn(Inputs inputs, uint8_t next);
    float loss(Inputs inputs, uint8_t next) const; // cross entropy, nats
    std::vector<float> &weights() { return weights_; }
    std::vector<float> gradient(Inputs inputs, uint8_t next) const;

private:
    // Of one step of time; kept for the way back.
    struct Step {
        std::array<float, hidden> in, forget, out, fresh, cell, cell_before, state, state_before;
    };
    std::vector<Step> forward(Inputs inputs) const;
    std::array<float, classes> read_out(const Step *last) const;

    std::vector<float> weights_; // gates: per class, per state, bias; then the read-out and its bias
    std::vector<float> squares_; // of gradients
};

// Steps between blocks as classes: the commonest have one each.
class LstmPrefetch {
public:
    class Reader {
        friend class LstmPrefetch;
        std::array<uint8_t, window> steps_{};
        size_t count_ = 0; // accesses
        BlockId last_ = no_block;
    };
    void access(Reader &reader, BlockId block);
    void end(Reader &reader) noexcept { reader.count_ = 0; }
    size_t next(const Reader &reader, std::span<Guess> out) const; // the next accesses one after the other

private:
    uint8_t class_of(int64_t step);
    static std::vector<uint8_t> inputs(const Reader &reader);

    Lstm lstm_;
    struct Class {
        int64_t step = 0;
        uint64_t uses = 0;
    };
    std::array<Class, Lstm::classes> steps_{};
};

} // namespace hbf::kv::prefetch
