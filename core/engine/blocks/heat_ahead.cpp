// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/heat_ahead.hpp"

#include <algorithm>

namespace hbf::kv {
namespace {

prefetch::Gate gate_of(const Settings &settings) {
    prefetch::Gate gate;
    gate.sure = settings.kv.prefetch_aggressiveness;
    gate.depth = settings.kv.prefetch_depth;
    return gate;
}

} // namespace

HeatAhead::HeatAhead(const Settings &settings, uint32_t lanes, uint64_t sessions)
    : lanes_(lanes), gate_(gate_of(settings)), prefetcher_(std::clamp<uint64_t>(sessions, 64, 1 << 14), gate_),
      known_(4 * std::clamp<uint64_t>(sessions, 64, 1 << 14)),
      tails_(std::clamp<uint64_t>(sessions, 64, 1 << 14) * lanes, no_block) {
    for (auto &slot : open_) slot.store(no_block, std::memory_order_relaxed);
    answer_.reserve(size_t{lanes} * 16);
}

bool HeatAhead::fetching(BlockId block, uint64_t bytes) {
    std::atomic<BlockId> &slot = open_[block % open_.size()];
    BlockId expected = no_block;
    if (!slot.compare_exchange_strong(expected, block, std::memory_order_relaxed)) return false;
    prefetcher_.ledger().fetching(block, bytes);
    return true;
}

void HeatAhead::gone(BlockId block) {
    if (close(block)) prefetcher_.ledger().dropped(block);
}

void HeatAhead::read(BlockId block, bool here) {
    if (here) prefetcher_.ledger().arrived(block);
    prefetcher_.ledger().used(block);
}

// A number for who takes these blocks over; that of the session that was made longest ago, where all are taken.
uint32_t HeatAhead::session_of(std::span<const BlockId> tails) {
    Known &known = this->known(tails[0]);
    if (known.block == tails[0] && known.session != nobody) return known.session;
    const uint32_t session = next_session_++ % static_cast<uint32_t>(tails_.size() / lanes_);
    prefetcher_.forget(session);
    known = {tails[0], session};
    std::copy(tails.begin(), tails.end(), tails_.begin() + size_t{session} * lanes_);
    return session;
}

std::span<const BlockId> HeatAhead::begins(std::span<const BlockId> tails, double memory_used) {
    answer_.clear();
    if (!on() || tails.size() != lanes_) return answer_;
    std::array<BlockId, 16> next;
    const size_t count =
        prefetcher_.read(reader_, session_of(tails), {}, memory_used, std::span(next).first(std::min<size_t>(16, depth())));
    for (size_t i = 0; i < count; ++i) {
        const auto of = std::span(tails_).subspan(size_t{next[i]} * lanes_, lanes_);
        answer_.insert(answer_.end(), of.begin(), of.end());
    }
    return answer_;
}

void HeatAhead::ended(std::span<const BlockId> before, std::span<const BlockId> tails) {
    if (!on() || tails.size() != lanes_) return;
    if (before.size() != lanes_) return (void)session_of(tails);
    const uint32_t session = session_of(before);
    known(tails[0]) = {tails[0], session};
    std::copy(tails.begin(), tails.end(), tails_.begin() + size_t{session} * lanes_);
}

uint64_t HeatAhead::metadata_bytes() const {
    return known_.size() * sizeof(Known) + (tails_.size() + answer_.capacity()) * sizeof(BlockId) +
           prefetcher_.metadata_bytes();
}

} // namespace hbf::kv
