// SPDX-License-Identifier: Apache-2.0
// Moves a block's bytes from one tier to another and says that they arrived, or that they did not: they are held against the
// checksums from when the block was sealed. Where the CPU reaches both sides it copies itself, and takes the checksum of
// what it stores; else the fabric copies, and what lies at the destination is read again, by way of staging memory where the
// CPU does not see it.
//
// One transfer at a time, by one thread at a time. Staging is memory of its own, no part of any pool's budget.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "core/engine/migration/pool.hpp"
#include "hbf/queue.hpp"

namespace hbf::kv {

class Copier {
public:
    using Clock = std::chrono::steady_clock;

    // Staging comes from `cpu`, a pool that the CPU reaches. `longest`: bytes of the largest transfer. `patience`: how long
    // its end, and that of a failed transfer, waits for a device to finish what it has begun; then the queue, and the memory
    // that the device may still write to, are left to it for good.
    Copier(TierPool &cpu, uint64_t longest, std::chrono::nanoseconds patience = std::chrono::seconds(5))
        : cpu_(cpu), longest_(longest), patience_(patience) {}
    ~Copier();
    Copier(const Copier &) = delete;
    Copier &operator=(const Copier &) = delete;

    // Bytes and checksums. DATA_LOSS, with the offset of the granule: they did not arrive, or are not what was sealed.
    // TIMEOUT: not in time, and taken back; see in_flight(). Other codes: the device's.
    Result<> copy(TierPool &to, const Spot &dst, TierPool &from, const Spot &src, uint64_t bytes,
                  Clock::time_point deadline);

    // The bytes where the CPU can read them, until the next call; held against their checksums.
    Result<const std::byte *> fetch(TierPool &from, const Spot &src, uint64_t bytes, Clock::time_point deadline);

    // After an error: a device may still be writing to the destination of the last transfer. Its granules are given back to
    // `pool` when it has finished: now, by a later call here, or at the end.
    bool in_flight() const noexcept { return last_ != nullptr; }
    void free_when_finished(TierPool &pool, uint64_t first, uint32_t granules) noexcept;
    void settle() noexcept; // gives back what may be given back

private:
    struct Kept { // of all that were left to their device, so that they stay reachable
        Queue queue;
        Kept *next = nullptr;
    };
    struct Lane { // of a device
        Device device;
        std::unique_ptr<Kept> own; // nullptr: the next transfer begins anew
        RegionInfo staging;
        struct Held {
            uint64_t value;
            TierPool *pool;
            uint64_t first;
            uint32_t granules;
        };
        std::vector<Held> held; // with room for one more while a transfer runs
        uint64_t last = 0;      // value that was submitted
        bool doubted = false;   // it said done of what was not there; held until its end
    };
    Result<Lane *> lane(Device &device, bool with_staging);
    Result<> run(Lane &lane, const Batch &batch, Clock::time_point deadline);
    bool end(Lane &lane) noexcept; // false: something was left to the device

    TierPool &cpu_;
    const uint64_t longest_;
    const std::chrono::nanoseconds patience_;
    std::map<uint32_t, Lane> lanes_; // by the device's number
    Lane *last_ = nullptr;
    uint64_t last_value_ = 0;
    bool left_ = false;       // the destination of the last transfer, to its device
    Lane *doubted_ = nullptr; // that said done of the last transfer, which was not there
    uint64_t spoilt_ = 0;     // granules
    Batch batch_;
};

} // namespace hbf::kv
