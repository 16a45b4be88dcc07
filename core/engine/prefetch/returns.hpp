// SPDX-License-Identifier: Apache-2.0
// Will a session come back soon? Asked when a request ends, of the last full block of its chain: if it will, the chain is
// worth keeping near, or fetching again before the next turn. Learns from each answer that time gives.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "core/engine/prefetch/logistic.hpp"
#include "core/engine/types.hpp"

namespace hbf::kv::prefetch {

struct Turn {               // of the request that ended
    uint32_t blocks = 0;    // of its chain
    uint32_t reused = 0;    // of them that were there
    uint32_t turns = 1;     // requests of this session so far, this one too
    double gap_seconds = 0; // since the turn before; 0: this is the first
};

// [one thread at a time]
class Returns {
public:
    static constexpr size_t features = 9;

    explicit Returns(double within_seconds = 60) : within_(within_seconds) {}

    // The probability that `last` is read again within the time asked for. `now`: seconds, never less than before.
    float ended(BlockId last, const Turn &turn, double now);
    void used(BlockId block, double now); // any block that is read
    double within() const noexcept { return within_; }
    size_t open() const noexcept { return waiting_.size(); }

private:
    using Model = Logistic<features>;
    struct Waiting {
        Model::Input input{};
        double until = 0;
    };
    void expire(double now);

    double within_;
    Model model_;
    std::unordered_map<BlockId, Waiting> waiting_;
    std::deque<std::pair<double, BlockId>> endings_; // in time's order; entries that were answered are passed over
    float base_ = 0.1F;                              // of all, how many came back of late
};

} // namespace hbf::kv::prefetch
