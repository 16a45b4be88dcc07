// SPDX-License-Identifier: Apache-2.0
// The size of blocks to come. What is there keeps its size: a block changes only by being written anew.
#include <cmath>

#include <fmt/format.h>

#include "core/engine/blocks/block_size.hpp"
#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

Result<> CacheCore::report_entropy(uint32_t layer, uint32_t group, double entropy) {
    if (layer >= model_.layers || group >= model_.head_groups)
        return fail(Code::invalid, fmt::format("layer {}, group {}: the model has {} and {}", layer, group, model_.layers,
                                               model_.head_groups));
    if (!std::isfinite(entropy) || entropy < 0)
        return fail(Code::invalid, fmt::format("an entropy of {}; it is a finite number of at least 0", entropy));
    constexpr double weight = 0.1; // of what is new: one odd query changes no layout
    const std::lock_guard lock(mutex_);
    double &known = sizes_[layer * model_.head_groups + group].entropy;
    known = known < 0 ? entropy : known + weight * (entropy - known);
    return {};
}

Result<> CacheCore::set_chunk_size(uint32_t tokens) {
    if (tokens < smallest_block || tokens > largest_block || tokens % settings_.kv.chunk_align != 0)
        return fail(Code::invalid, fmt::format("a chunk size of {}; it is a multiple of {} from {} to {}", tokens,
                                               settings_.kv.chunk_align, smallest_block, largest_block));
    const std::lock_guard lock(mutex_);
    chunk_ = tokens;
    return {};
}

uint32_t CacheCore::next_capacity(uint32_t lane, bool step) {
    const std::lock_guard lock(mutex_);
    LaneSize &mine = sizes_[lane];
    double sum = 0;
    uint32_t known = 0;
    for (const LaneSize &size : sizes_) {
        if (size.entropy < 0) continue;
        sum += size.entropy;
        ++known;
    }
    const double average = known == 0 || mine.entropy < 0 ? 0 : sum / known;
    const uint32_t align = settings_.kv.chunk_align;
    const uint32_t next = next_size(mine.now, block_size(chunk_, align, mine.entropy, average), align);
    if (step) {
        mine.now = next;
        mine.seen = static_cast<uint16_t>(mine.seen | 1u << (next / 16 - 1));
    }
    return next;
}

} // namespace hbf::kv
