// SPDX-License-Identifier: Apache-2.0
// A device's regions: slots with a generation and a count of commands in flight, so that a stale handle is an error and a
// region in use cannot be freed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/fabric/crc_records.hpp"
#include "hbf/abi/tier.h"
#include "hbf/region.hpp"
#include "hbf/status.hpp"

namespace hbf::fabric {

class DeviceCore;

// This region's memory as another device knows it, once registered there. Added once, removed when the region is freed.
struct PeerRegistration {
    std::weak_ptr<DeviceCore> device;
    uint32_t device_number = 0;
    hbf_region region = 0;
    PeerRegistration *next = nullptr;
};

struct alignas(64) RegionSlot {
    // generation << 32 | closed << 31 | commands in flight. Every use goes through pin, so the rest is stable while pinned.
    std::atomic<uint64_t> state{closed};
    hbf_region handle = 0; // the plugin's
    uint64_t size = 0;     // bytes
    std::byte *address = nullptr;
    uint32_t tier = 0;
    bool software = false;      // CPU-accessible in a domain that needs explicit flush and invalidate
    bool kernel_access = false; // a launch may write it
    std::atomic<CrcRecords *> records{nullptr};
    std::atomic<PeerRegistration *> peers{nullptr};
    RegionInfo info;
    std::string name; // for people: "region 3.1 in dram0 of host:host0"

    static constexpr uint64_t closed = 1ull << 31;
    static constexpr uint64_t count_mask = closed - 1;

    // Memory that the CPU can read as it is, no operation needed first.
    bool cpu_readable() const { return address != nullptr && !software; }
    CrcRecords &ensure_records(); // throws bad_alloc
    void unpin() noexcept { state.fetch_sub(1, std::memory_order_release); }
};

class RegionSlots {
public:
    RegionSlots() = default;
    ~RegionSlots();
    RegionSlots(const RegionSlots &) = delete;
    RegionSlots &operator=(const RegionSlots &) = delete;

    // [any thread] A closed slot for a region about to be made; throws bad_alloc. Ends in publish or give_back.
    uint32_t take();
    RegionSlot &at(uint32_t index) const { return chunk_of(index)[index % per_chunk]; }
    uint32_t next_generation(uint32_t index) const; // what publish will return
    uint32_t publish(uint32_t index) noexcept;      // opens it
    void give_back(uint32_t index) noexcept;        // of a closed slot

    // [any thread] The slot, with one more command in flight, or nullptr if the handle is stale. No lock.
    RegionSlot *pin(uint32_t index, uint32_t generation) noexcept;

    // [any thread] Closes an idle slot: ok, busy (in use) or invalid (stale).
    Code close(uint32_t index, uint32_t generation) noexcept;
    void reopen(uint32_t index) noexcept; // the plugin would not free it

    template <class Body>
    void each(Body &&body) { // every slot ever used; nothing else runs
        for (uint32_t i = 0; i < used_; ++i) body(at(i));
    }

private:
    static constexpr uint32_t per_chunk = 1024, max_chunks = 1024;
    RegionSlot *chunk_of(uint32_t index) const { return chunks_[index / per_chunk].load(std::memory_order_acquire); }

    std::array<std::atomic<RegionSlot *>, max_chunks> chunks_{};
    std::mutex mutex_; // free_, used_
    std::vector<uint32_t> free_;
    uint32_t used_ = 0;
};

} // namespace hbf::fabric
