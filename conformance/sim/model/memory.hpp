// SPDX-License-Identifier: Apache-2.0
// The machine's memory: blocks in one address space, the process's own, so that an address names one thing only whoever
// uses it.
//
// - Device memory has a device address: the range is reserved, and the CPU faults on it. The bytes lie elsewhere, and cost
//   nothing before they are written. On a device with `cpu_access` the CPU reaches them at the same address.
// - Host memory (allocated, or registered: the caller's own) and managed memory lie where the CPU sees them. Devices reach
//   them at the same address, through a cache of lines of their own if the block is not kept coherent by hardware.
// - Memory can be mapped by hand: reserve() an address range, create_physical(), map(), set_access().
//
// All functions may be called by any thread. None throws but std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "conformance/sim/model/outcome.hpp"
#include "conformance/sim/model/profile.hpp"

namespace hbf::model {

class Machine;
struct Block;

enum class MemoryKind : uint8_t {
    device,     // one device's own
    host,       // allocated pinned, for devices to reach
    registered, // the caller's own, pinned since
    managed,    // goes to whoever touches it
    reserved,   // address range only: nothing lies there
};

// Who touches memory, each with caches of its own. The CPU's are always coherent: it is this process.
struct Agent {
    enum class Kind : uint8_t { compute, copy_engine };
    int device = -1; // -1: the CPU
    Kind kind = Kind::copy_engine;
};
inline constexpr int on_host = -1; // as a device: the CPU's side

struct BlockInfo {
    uint64_t address = 0, size = 0;
    MemoryKind kind = MemoryKind::device;
    int device = on_host;                      // whose memory it is; managed: whose context it was made in; host: -1
    uint64_t id = 0;                           // never used twice, as addresses are
    uint64_t flags = 0;                        // the emulated runtime's own, as given
    void *cpu = nullptr;                       // where the CPU reaches it; nullptr: it does not
    Coherence coherence = Coherence::hardware; // between the CPU and devices
    uint64_t physical = 0;                     // handle, of memory mapped by hand
};

struct Allocation {
    Outcome outcome = Outcome::ok;
    uint64_t address = 0; // or a handle; 0 if it failed
};

struct Usage {
    uint64_t total = 0, free = 0; // bytes, as the device says
};

class HBF_MODEL_API Memory {
public:
    explicit Memory(Machine &machine);
    ~Memory();
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    // Sizes above 0; alignment a power of two, 0: the device's usual 256 bytes (host: a page). What begins never written
    // reads as zero, and nobody should rely on it. ok | invalid | no_memory | lost.
    Allocation allocate_device(int device, uint64_t size, uint64_t alignment = 0, uint64_t flags = 0);
    // Pinned. `device` whose view of it `coherence` is about; it is reached by all. An absent coherence is what the profile
    // says of that device's host access.
    Allocation allocate_host(int device, uint64_t size, uint64_t alignment = 0, uint64_t flags = 0,
                             std::optional<Coherence> coherence = {});
    Allocation allocate_managed(int device, uint64_t size, uint64_t flags = 0);
    // busy: overlaps what is registered or allocated. Pages are touched, never moved or freed.
    Outcome register_host(int device, void *at, uint64_t size, uint64_t flags = 0, std::optional<Coherence> coherence = {});
    Outcome unregister_host(void *at); // unknown_address: not where a registration begins

    // By the address that allocate_* returned. Waits first for all work of the device, or of every device for memory of the
    // host, if the contract says so; else work in flight meets no memory, and says so. unknown_address: no block begins
    // there, also a second time.
    Outcome free(uint64_t address);

    // By hand, as cuMemAddressReserve and its kin. Reservations and mappings: whole ones only, as they were made.
    Allocation reserve(uint64_t size, uint64_t alignment = 0);
    Outcome unreserve(uint64_t address, uint64_t size);                        // busy: something is mapped in it
    Allocation create_physical(int device, uint64_t size, uint64_t flags = 0); // .address is the handle
    Outcome release_physical(uint64_t handle);                                 // its memory goes when no mapping is left
    Outcome map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle); // nobody may touch it yet
    Outcome unmap(uint64_t address, uint64_t size); // all mappings in it; does not wait for work in flight
    Outcome set_access(uint64_t address, uint64_t size, int device, bool allowed);
    bool access(uint64_t address, int device) const; // what the mapping there grants

    // The block that holds an address; none for memory that no runtime made (the CPU's own).
    std::optional<BlockInfo> find(uint64_t address) const;
    // Whether [address, address + size) lies in one block that `agent` may touch, or is the CPU's own and pageable (then
    // `pageable`, if given, is true): what a runtime can say in the call. ok | unknown_address | out_of_range | no_access.
    Outcome check(Agent agent, uint64_t address, uint64_t size, bool *pageable = nullptr) const;

    Usage usage(int device) const;      // -1: what can be pinned
    Usage true_usage(int device) const; // without faults
    uint64_t blocks(int device) const;  // how many live: leaks show

    // Moves lines between an agent's cache and the block, where it is not kept coherent by hardware; whole lines around
    // the range. On others nothing is to be done and ok.
    Outcome write_back(Agent agent, uint64_t address, uint64_t size);
    Outcome invalidate(Agent agent, uint64_t address, uint64_t size);
    // The same for all that the agent has of anything: what a boundary does, such as the end of a kernel.
    void write_back_all(Agent agent);
    void invalidate_all(Agent agent);

    // A network card's, or another machine's write into memory, past all runtimes: posted. It is seen once it arrives, which
    // a faulty path makes wait for flush_posted().
    Outcome third_party_write(uint64_t address, const void *bytes, uint64_t size);
    void flush_posted(int device);

    // [any-thread] At once, not in any stream's order, as a debugger would: for emulated calls that the contract makes
    // synchronous by themselves, and for tests. Caches of devices do not come into it.
    Outcome peek(uint64_t address, void *to, uint64_t size) const;
    Outcome poke(uint64_t address, const void *from, uint64_t size);

    struct Parts; // the engines' side: block.hpp
    Parts &parts() noexcept { return *parts_; }

private:
    std::unique_ptr<Parts> parts_;
};

} // namespace hbf::model
