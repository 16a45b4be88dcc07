// SPDX-License-Identifier: Apache-2.0
// What sequences tell of their requests, and what users ask of placement.
#include <algorithm>

#include <fmt/format.h>

#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

Result<> CacheCore::begin_heat(const CacheOptions &options) {
    Heat::Options heat;
    heat.policy = options.policy;
    heat.lanes = lanes();
    heat.block_granules = granules_of(block_bytes(settings_.kv.chunk_size));
    heat.hbf_tier = pools_[1] != nullptr;
    heat.cold_tier = has(Tier::cold);
    if (logs_) heat.room[2] = logs_->bytes() / granule_size;
    for (uint32_t i = 0; i < tier_count; ++i)
        if (pools_[i]) heat.room[i] = i == 0 ? hbm_limit() : pools_[i]->budget();
    auto made = Heat::make(settings_, heat);
    if (!made) return tl::unexpected(std::move(made.error()));
    heat_ = std::move(*made);
    looks_ahead_.store(background_ && heat_->ahead().on() && colder(Tier::hbm).has_value());
    return {};
}

// Its blocks were used, and those below HBM are read next, the first of each lane before the second.
void CacheCore::request_begins(std::span<const std::vector<BlockId>> lanes) {
    std::vector<BlockId> tails, below;
    tails.reserve(lanes.size());
    const std::lock_guard lock(mutex_);
    const bool ahead = background_ && heat_->ahead().on() && colder(Tier::hbm).has_value();
    size_t longest = 0;
    for (const auto &lane : lanes) {
        heat_->use_now(table_, lane, &lane == &lanes.front());
        longest = std::max(longest, lane.size());
        if (!lane.empty()) tails.push_back(lane.back());
    }
    (void)heat_->take_below(); // they are fetched ahead, hot or not
    if (!ahead) return;
    for (const auto &lane : lanes)
        for (const BlockId block : lane) add_to_chain(block);
    const double used =
        static_cast<double>(pool(Tier::hbm)->used()) / static_cast<double>(std::max<uint64_t>(1, pool(Tier::hbm)->budget()));
    for (BlockId block : heat_->ahead().begins(tails, used)) { // and perhaps, then, those of who asks next
        below.clear();
        for (; table_.find(block) != nullptr && below.size() < most_chain; block = heat_->scheduler().parent(block))
            below.push_back(block);
        for (auto at = below.rbegin(); at != below.rend(); ++at) add_to_chain(*at);
    }
    if (!chain_.empty()) transfers_->wake();
}

void CacheCore::request_ends(std::span<const BlockId> before, std::span<const BlockId> tails) {
    const std::lock_guard lock(mutex_);
    heat_->ahead().ended(before, tails);
}

void CacheCore::add_to_chain(BlockId block) {
    if (chain_.size() < most_chain && table_.find(block) != nullptr && tier_of(block) != Tier::hbm) chain_.push_back(block);
}

Result<> CacheCore::pin(BlockId block, std::chrono::milliseconds time) {
    const std::lock_guard lock(mutex_);
    const BlockRecord *const record = table_.find(block);
    if (record == nullptr) return fail(Code::invalid, fmt::format("there is no block {}", block));
    if (!record->sealed) return fail(Code::invalid, fmt::format("block {} is being filled: it goes nowhere before", block));
    if (record->same_as != no_block) block = record->same_as;
    heat_->expire();
    if (auto done = heat_->pin(block, time); !done) return done;
    show(block, observe::Reason::pinned);
    return {};
}

void CacheCore::unpin(BlockId block) {
    const std::lock_guard lock(mutex_);
    const BlockRecord *const record = table_.find(block);
    if (record == nullptr) return;
    if (record->same_as != no_block) block = record->same_as;
    heat_->scheduler().unpin(block);
    show_again(block);
}

bool CacheCore::query() {
    const std::lock_guard lock(mutex_);
    heat_->count_query();
    return heat_->scheduler().query();
}

void CacheCore::set_relevance(std::span<const placement::Relevance> blocks) {
    std::vector<placement::Relevance> holders(blocks.begin(), blocks.end());
    const std::lock_guard lock(mutex_);
    for (auto &[block, value] : holders)
        if (table_.find(block) != nullptr && table_[block].same_as != no_block) block = table_[block].same_as;
    heat_->scheduler().set_relevance(holders);
}

} // namespace hbf::kv
