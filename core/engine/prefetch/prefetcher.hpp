// SPDX-License-Identifier: Apache-2.0
// What to fetch ahead for a reader. Where its chain is known (a prompt that was hashed) nothing is guessed: the next blocks
// of it are fetched. Beyond its end the predictor is asked, if it has been better than the last successor of late, else
// that.
//
// [one thread at a time] Nothing allocates but the ledger's entries.
#pragma once

#include <span>

#include "core/engine/prefetch/ledger.hpp"
#include "core/engine/prefetch/smart.hpp"

namespace hbf::kv::prefetch {

class Prefetcher {
public:
    class Reader {
        friend class Prefetcher;
        SmartPrefetch::Reader smart;
        // What each would have fetched at the last access, until the next one tells.
        BlockId model_thought = no_block, last_thought = no_block;
    };

    explicit Prefetcher(size_t blocks, const Gate &gate = {}) : gate_(gate), smart_(blocks) {}

    // `block` is being read, and `known` come after it. Into `out`: the blocks to fetch now, soonest first; their number.
    // `memory_used`: of device memory, 0..1. Tell the ledger of each that is fetched, comes, is used or dropped.
    size_t read(Reader &reader, BlockId block, std::span<const BlockId> known, double memory_used, std::span<BlockId> out);
    void end(Reader &reader); // of the request
    void forget(BlockId block) { smart_.forget(block); }

    Ledger &ledger() noexcept { return ledger_; }
    const Ledger &ledger() const noexcept { return ledger_; }
    const Contest &contest() const noexcept { return contest_; }
    SmartPrefetch &model() noexcept { return smart_; }
    size_t metadata_bytes() const noexcept { return smart_.successors().metadata_bytes(); }

private:
    Gate gate_;
    SmartPrefetch smart_;
    Ledger ledger_;
    Contest contest_;
};

} // namespace hbf::kv::prefetch
