// SPDX-License-Identifier: Apache-2.0
// Predictors against each other on what really was asked for: at each access, the next three of the same request are
// guessed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/engine/types.hpp"

namespace hbf::kv::prefetch {

struct Score {
    std::string predictor;
    uint64_t issued = 0, right = 0; // guesses of blocks that there were
    uint64_t reusable = 0;          // of the next three, those that an earlier request made: what could be guessed
    uint64_t branches = 0, branches_right = 0; // accesses after which different blocks came: the next one guessed first
    double precision() const { return issued ? static_cast<double>(right) / static_cast<double>(issued) : 0; }
    double recall() const { return reusable ? static_cast<double>(right) / static_cast<double>(reusable) : 0; }
};

// "last successor", "smart", and with `lstm` "lstm", which takes a thousand times as long. `sure`: guesses below it are not
// issued (the last successor has no such figure).
std::vector<Score> compare(std::span<const std::vector<BlockId>> requests, size_t blocks, double sure, bool lstm);

} // namespace hbf::kv::prefetch
