// SPDX-License-Identifier: Apache-2.0
// Attends a list of blocks, each in its place, and puts their results into a fold in the list's order.
#pragma once

#include <span>
#include <vector>

#include "core/engine/attention/fold.hpp"
#include "core/engine/attention/place.hpp"

namespace hbf::kv {

struct Block {
    kv_block at;        // in its place; `tokens` of it are there
    uint32_t place = 0; // index in `places`
};

// One thread at a time. Once warmed, nothing is allocated.
class BlockRunner {
public:
    // All places begin before the first block is attended. The fold has room for the blocks. After an error nothing is in
    // flight.
    Result<> run(std::span<AttendPlace *const> places, const kv_shape &shape, const float *query,
                 std::span<const Block> blocks, Fold &fold);
    // Says to the places that run() will soon be called with these.
    void prefetch(std::span<AttendPlace *const> places, const kv_shape &shape, std::span<const Block> blocks);

private:
    void sort(std::span<AttendPlace *const> places, std::span<const Block> blocks);
    void abandon(std::span<AttendPlace *const> places, size_t count) noexcept;

    std::vector<std::vector<kv_block>> lists_; // of each place
};

// Code::invalid if the shape is refused, or a block lies in a place that is not there. Tokens of all blocks.
Result<uint64_t> count_tokens(std::span<AttendPlace *const> places, const kv_shape &shape, std::span<const Block> blocks);

} // namespace hbf::kv
