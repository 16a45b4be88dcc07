// SPDX-License-Identifier: Apache-2.0
#include "core/engine/prefetch/returns.hpp"

#include <algorithm>
#include <cmath>

namespace hbf::kv::prefetch {
namespace {

float logarithm(double value) {
    return static_cast<float>(std::log2(1 + value)) / 8;
}

} // namespace

float Returns::ended(BlockId last, const Turn &turn, double now) {
    expire(now);
    Model::Input input{};
    const double share = turn.blocks > 0 ? static_cast<double>(turn.reused) / turn.blocks : 0;
    input[0] = 1;
    input[1] = logarithm(turn.blocks);
    input[2] = static_cast<float>(share);
    input[3] = logarithm(turn.turns - 1);
    input[4] = turn.gap_seconds > 0 ? logarithm(turn.gap_seconds) : 0;
    input[5] = turn.gap_seconds > 0 ? 1 : 0;
    input[6] = turn.reused == 0 ? 1 : 0;
    input[7] = logarithm(turn.blocks - std::min(turn.reused, turn.blocks));
    input[8] = std::log(base_ / (1 - base_)) / 4;
    waiting_[last] = {input, now + within_};
    endings_.emplace_back(now + within_, last);
    return model_(input);
}

void Returns::used(BlockId block, double now) {
    expire(now);
    const auto found = waiting_.find(block);
    if (found == waiting_.end()) return;
    model_.learn(found->second.input, true);
    base_ += 0.01F * (1 - base_);
    waiting_.erase(found);
}

void Returns::expire(double now) {
    while (!endings_.empty() && endings_.front().first < now) {
        const auto [until, block] = endings_.front();
        endings_.pop_front();
        const auto found = waiting_.find(block);
        if (found == waiting_.end() || found->second.until != until) continue; // answered, or asked again since
        model_.learn(found->second.input, false);
        base_ = std::max(0.001F, base_ * 0.99F);
        waiting_.erase(found);
    }
}

} // namespace hbf::kv::prefetch
