// SPDX-License-Identifier: Apache-2.0
// The granules of one tier: runs of 64 KiB in slabs, which are regions of the fabric, taken as they are needed. Readers
// resolve a granule's number without a lock; everything else is under the pool's mutex.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/engine/migration/epochs.hpp"
#include "core/engine/types.hpp"
#include "hbf/device.hpp"

namespace hbf::kv {

// Where granules lie.
struct Spot {
    Region region;
    uint64_t offset = 0;          // bytes
    std::byte *address = nullptr; // as the CPU sees it; nullptr: it does not
    uint32_t *crc = nullptr;      // CRC-32C of each granule as it was sealed
};

class TierPool {
public:
    // `longest`: granules of the largest run. The budget is not checked here.
    TierPool(Tier tier, Device device, TierInfo info, bool coherent, uint64_t budget, uint32_t longest);
    ~TierPool();
    TierPool(const TierPool &) = delete;
    TierPool &operator=(const TierPool &) = delete;

    const Tier tier;
    Device device;
    const TierInfo info;
    const bool direct; // the CPU may read and write it as any memory

    // Neighbouring granules, the number of the first. EXHAUSTED: the budget, or the device, has no such run left.
    Result<uint64_t> allocate(uint32_t granules);
    void free(uint64_t first, uint32_t granules) noexcept;
    // Free once every reader of that epoch has gone on. Where there is no memory to keep that in mind, never.
    void retire(uint64_t first, uint32_t granules, uint64_t epoch) noexcept;
    void collect(const Epochs &epochs) noexcept;

    Spot at(uint64_t granule) const noexcept; // of an allocated or retired one [any thread, no lock]

    // Which block has a granule: for those who look for victims, and for moving together. Under the cache's lock.
    void set_owner(uint64_t first, uint32_t granules, BlockId block) noexcept;
    BlockId owner(uint64_t granule) const noexcept;
    uint64_t slab_granules() const noexcept { return slab_granules_; }
    std::vector<uint64_t> slabs_by_use() const; // first granule of each, the emptiest first
    std::vector<uint64_t> slabs() const;

    uint64_t budget() const;                  // granules
    void set_budget(uint64_t bytes) noexcept; // may be below used()
    void trim() noexcept;                     // gives empty slabs back to the device, as far as the budget is exceeded
    uint64_t used() const;                    // granules, with those that wait for readers
    uint64_t waiting() const;
    // Share of the free granules that no run of `unit` can use.
    double fragmentation(uint32_t unit) const;
    uint64_t metadata_bytes() const;

private:
    struct Slab {
        RegionInfo region;
        std::vector<uint64_t> busy; // a bit a granule
        std::unique_ptr<uint32_t[]> crc;
        std::unique_ptr<BlockId[]> owner;
        uint32_t free = 0;
    };
    struct Retired {
        uint64_t first, epoch;
        uint32_t granules;
    };
    static constexpr uint64_t most_slabs = 8192;

    static bool busy(const Slab &slab, uint64_t i) noexcept { return (slab.busy[i / 64] >> (i % 64) & 1) != 0; }
    int64_t find_run(const Slab &slab, uint32_t granules) const noexcept;
    void mark(Slab &slab, uint64_t first, uint32_t granules, bool on) noexcept;
    Result<uint64_t> add_slab();
    void free_locked(uint64_t first, uint32_t granules) noexcept;

    uint64_t slab_granules_;
    mutable std::mutex mutex_;
    std::unique_ptr<std::atomic<Slab *>[]> slabs_; // most_slabs, a slot may be empty
    uint64_t slab_end_ = 0;                        // slots that were ever used
    uint64_t budget_, used_ = 0, waiting_ = 0, slab_count_ = 0;
    std::vector<Retired> retired_;
};

} // namespace hbf::kv
