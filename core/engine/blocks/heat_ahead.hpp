// SPDX-License-Identifier: Apache-2.0
// Which blocks are fetched ahead of their readers, and what that was worth. Within a request nothing is guessed: its chain
// is known. What comes after it - which session asks next - is the predictor's: each session is a number to it, and stands
// for the last blocks of all its lanes as it was seen last.
//
// Under the cache's lock, but for what says otherwise.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "core/engine/prefetch/prefetcher.hpp"
#include "hbf/kv.hpp"

namespace hbf::kv {

class HeatAhead {
public:
    HeatAhead(const Settings &settings, uint32_t lanes, uint64_t sessions);

    bool on() const noexcept { return gate_.depth > 0; }
    uint32_t depth() const noexcept { return gate_.depth; }

    // The block is on its way up. False: too many are that nobody has read yet.
    bool fetching(BlockId block, uint64_t bytes);
    void gone(BlockId block);            // it left HBM, or did not come: wasted, if nobody has read it
    void read(BlockId block, bool here); // after close()
    const prefetch::Ledger::Bytes &bytes() const noexcept { return prefetcher_.ledger().bytes(); }

    bool is_open(BlockId block) const noexcept {
        return open_[block % open_.size()].load(std::memory_order_relaxed) == block;
    }
    // Readers: true if the block was fetched ahead and this is its first reader, who says so by read(). [any thread]
    bool close(BlockId block) noexcept {
        std::atomic<BlockId> &slot = open_[block % open_.size()];
        BlockId expected = block;
        return slot.load(std::memory_order_relaxed) == block &&
               slot.compare_exchange_strong(expected, no_block, std::memory_order_relaxed);
    }
    void open_again(BlockId block) noexcept { open_[block % open_.size()].store(block, std::memory_order_relaxed); }

    // A request begins: `tails` are the last blocks that it takes over, a lane each (none: it takes nothing over). The last
    // blocks of sessions that are likely to ask next, by lane, no_block where there is none; valid until the next call.
    std::span<const BlockId> begins(std::span<const BlockId> tails, double memory_used);
    // It ends, with these last blocks: who takes them over is the same session.
    void ended(std::span<const BlockId> before, std::span<const BlockId> tails);
    bool predicts() const noexcept { return prefetcher_.contest().model_on(); } // else: what came next the last time

    uint64_t metadata_bytes() const;

private:
    static constexpr uint32_t nobody = UINT32_MAX;
    struct Known {
        BlockId block = no_block; // of the first lane
        uint32_t session = nobody;
    };
    Known &known(BlockId block) { return known_[block % known_.size()]; }
    uint32_t session_of(std::span<const BlockId> tails);

    const uint32_t lanes_;
    prefetch::Gate gate_;
    prefetch::Prefetcher prefetcher_;
    prefetch::Prefetcher::Reader reader_;         // one: of all requests, as they come
    std::array<std::atomic<BlockId>, 4096> open_; // fetched, and not read yet
    std::vector<Known> known_;
    std::vector<BlockId> tails_; // lanes_ of each session
    uint32_t next_session_ = 0;
    std::vector<BlockId> answer_;
};

} // namespace hbf::kv
