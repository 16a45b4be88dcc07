// SPDX-License-Identifier: Apache-2.0
// A tier whose memory the CPU does not see, as a source of blocks: fetched by the copies of the tier's device, and held
// against the checksums of their granules when they have arrived.
#pragma once

#include <chrono>
#include <vector>

#include "core/engine/attention/block_source.hpp"
#include "core/engine/migration/pool.hpp"
#include "hbf/queue.hpp"

namespace hbf::kv {

class PoolSource final : public BlockSource {
public:
    // Offsets are granules of the pool times their size. `cpu`: the pool that blocks are filled in.
    PoolSource(TierPool &pool, TierPool &cpu, std::chrono::nanoseconds deadline)
        : pool_(pool), cpu_(cpu), deadline_(deadline) {}
    ~PoolSource() override;
    PoolSource(const PoolSource &) = delete;
    PoolSource &operator=(const PoolSource &) = delete;

    uint64_t size() const noexcept override { return uint64_t{1} << 54; }
    Result<> attach(std::span<std::byte> memory) override;
    // Whole granules, of blocks that are there: for start() and wait() the caller is inside an epoch in which they were.
    Result<uint64_t> start(std::span<const Fetch> fetches) override;
    Result<> wait(uint64_t ticket) override;         // DATA_LOSS: a granule is not what its checksum says
    void discard(uint64_t ticket) noexcept override; // waits, no longer than the deadline
    bool is_finished() noexcept override { return stuck_ <= queue_.completed(); }

private:
    struct Started {
        uint64_t ticket = 0;
        bool used = false;
        std::vector<Fetch> fetches;
    };
    Started &unused();
    void finish(uint64_t ticket) noexcept; // it is not waited for any more

    TierPool &pool_, &cpu_;
    const std::chrono::nanoseconds deadline_;
    std::span<std::byte> memory_;
    Region region_;            // the same, for the fabric
    Device *holder_ = nullptr; // which it is registered with
    Queue queue_;
    Batch batch_;
    uint64_t stuck_ = 0; // a transfer that was not done by its deadline: it may still write
    std::vector<Started> started_;
};

} // namespace hbf::kv
