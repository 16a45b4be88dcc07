// SPDX-License-Identifier: Apache-2.0
// Memory as the engines see it: blocks, where their bytes are, and how an agent reaches them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "conformance/sim/mapping.hpp"
#include "conformance/sim/model/cache.hpp"
#include "conformance/sim/model/memory.hpp"

namespace hbf::model {

// Bytes of one device, or of the host. They live as long as anything reaches them.
struct Physical {
    sim::Mapping bytes;
    int device = on_host;
    uint64_t charged = 0; // of the device's capacity, given back with it
    uint64_t flags = 0;
    std::atomic<uint64_t> *used = nullptr; // the device's count that `charged` is part of

    Physical(sim::Mapping mapping, int home, uint64_t charge, std::atomic<uint64_t> *count);
    ~Physical();
    Physical(const Physical &) = delete;
    Physical &operator=(const Physical &) = delete;
};

struct Block {
    uint64_t address = 0, size = 0, id = 0, flags = 0;
    MemoryKind kind = MemoryKind::device;
    int device = on_host;
    Coherence coherence = Coherence::hardware;
    bool cpu = false;      // the CPU reaches it at its address
    bool unpinned = false; // registered, by fault in name only
    bool by_hand = false;  // mapped by hand: `allowed` says who may touch it
    uint64_t physical_handle = 0;
    std::shared_ptr<Physical> physical;
    uint64_t physical_offset = 0;
    sim::Mapping reservation;         // of its own address range, where the bytes lie elsewhere
    std::atomic<uint64_t> allowed{0}; // by hand: bits of devices
    std::atomic<int64_t> written_ns{0};

    std::byte *bytes(uint64_t offset) const noexcept { return physical->bytes.at(physical_offset + offset); }
    void touch() noexcept; // it was written now
    // The agent's lines of it, made at first use.
    LineCache &cache(Agent agent, uint64_t line);
    template <class Each>
    void each_cache(Agent agent, Each &&each) {
        std::lock_guard lock(caches_mutex_);
        if (const auto found = caches_.find(key(agent)); found != caches_.end()) each(*found->second);
    }

private:
    static int key(Agent agent) noexcept { return agent.device * 2 + static_cast<int>(agent.kind); }
    std::mutex caches_mutex_;
    std::map<int, std::unique_ptr<LineCache>> caches_;
};

// One end of a transfer, found and checked; what it holds stays alive.
struct End {
    std::shared_ptr<Block> block; // nullptr: pageable memory of the process
    uint64_t offset = 0;          // in the block, or the address
    LineCache *cache = nullptr;   // goes through it
    bool held = false;            // reads what the cache has, whatever it is
    bool write_through = false;   // what is written is seen at home at once, too
    bool dropped = false;         // writes go nowhere, reads give 0xff

    void read(uint64_t at, std::byte *to, uint64_t size) const;
    bool write(uint64_t at, const std::byte *from, uint64_t size) const; // false: pageable memory that is gone
    bool readable(uint64_t at, std::byte *to, uint64_t size) const;      // read, or false as write()
    int home() const noexcept { return block ? block->device : on_host; }
};

enum class Reach : uint8_t { copy, kernel };

struct Memory::Parts {
    explicit Parts(Machine &the_machine);

    // Who holds `address`; nullptr: nobody.
    std::shared_ptr<Block> holding(uint64_t address) const;
    // Finds [address, address + size) for an agent. Events of faults that act on reads are counted if `reads`.
    Outcome resolve(Agent agent, Reach reach, uint64_t address, uint64_t size, bool reads, End &out);
    Outcome allowed(Agent agent, Reach reach, const Block &block) const;
    Outcome free_now(uint64_t address); // waits for nothing

    Allocation add(std::shared_ptr<Block> block);
    std::shared_ptr<Physical> take_physical(int device, uint64_t size, uint64_t alignment, uint64_t offset,
                                            Outcome &outcome);
    uint64_t capacity(int device) const;
    bool charge(int device, uint64_t size);

    Machine &machine;
    // Of each device, the host's at the end. Lives longer than the memory that counts in it.
    std::vector<std::unique_ptr<std::atomic<uint64_t>>> used;
    mutable std::shared_mutex mutex;
    std::map<uint64_t, std::shared_ptr<Block>> blocks; // by address
    std::map<uint64_t, std::shared_ptr<Block>> ghosts; // freed too early, by fault
    std::map<uint64_t, sim::Mapping> reservations;
    std::map<uint64_t, std::shared_ptr<Physical>> physicals; // by handle
    std::vector<std::shared_ptr<Physical>> recycled;         // freed too early
    std::shared_ptr<Physical> latest;                        // for the fault same-memory
    std::atomic<uint64_t> next_id{1};
    struct Posted {
        int device = on_host;
        uint64_t address = 0;
        std::vector<std::byte> bytes;
    };
    std::vector<Posted> posted;
};

} // namespace hbf::model
