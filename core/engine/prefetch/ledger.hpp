// SPDX-License-Identifier: Apache-2.0
// What fetching ahead was worth: bytes that were used, wasted, or came late. And the decision that follows: a predictor that
// does not beat "what followed last time" is switched off, and tried again now and then.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "core/engine/prefetch/smart.hpp"

namespace hbf::kv::prefetch {

struct Gate {
    double sure = 0.8;         // the best two guesses have to be this likely
    double memory_below = 0.7; // of device memory in use
    uint32_t depth = 2;        // blocks at most
};

// How many of the guesses (likeliest first) to fetch: none where one of the best two is not sure, or memory is short.
size_t allowed(const Gate &gate, std::span<const Guess> guesses, double memory_used) noexcept;

// [one thread at a time]
class Ledger {
public:
    struct Bytes {
        uint64_t useful = 0, wasted = 0, late = 0; // late: asked for before it had come; not among the useful
    };
    void fetching(BlockId block, uint64_t bytes) { open_[block] = {bytes, false}; }
    void arrived(BlockId block);
    void used(BlockId block);    // closes its entry
    void dropped(BlockId block); // without having been used
    const Bytes &bytes() const noexcept { return bytes_; }
    size_t open() const noexcept { return open_.size(); }

private:
    struct Entry {
        uint64_t bytes = 0;
        bool here = false;
    };
    std::unordered_map<BlockId, Entry> open_;
    Bytes bytes_;
};

// Both are judged by what they would have done: a right guess counts one, a wrong one takes one away.
class Contest {
public:
    void count(int right_of_model, int wrong_of_model, int right_of_last, int wrong_of_last) noexcept;
    bool model_on() const noexcept { return on_; }
    double lead() const noexcept { return model_ - last_; } // of late; above 0: the model is better

private:
    static constexpr double kept = 0.999;  // a decision: about a thousand of them count
    static constexpr double to_switch = 1; // lead in guesses
    double model_ = 0, last_ = 0;
    bool on_ = false;
};

} // namespace hbf::kv::prefetch
