// SPDX-License-Identifier: Apache-2.0
// Allocation, registration and free.
#include "conformance/sim/model/memory.hpp"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>

#include "conformance/sim/model/block.hpp"
#include "conformance/sim/model/machine.hpp"
#include "hbf/sdk/failure.hpp"

namespace hbf::model {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t usual = 512; // bytes: what an address of device memory is a multiple of, and of no more
constexpr uint64_t largest = uint64_t{1} << 46;

uint64_t up(uint64_t size, uint64_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}
bool sane(uint64_t size, uint64_t alignment) {
    return size != 0 && size < largest && alignment < largest && (alignment & (alignment - 1)) == 0;
}

// An address range that the CPU faults on.
std::optional<sim::Mapping> reserve_range(uint64_t size, uint64_t alignment) {
    try {
        sim::Mapping range = sim::Mapping::zeroed(size, std::max(alignment, page));
        if (::mprotect(range.at(0), size, PROT_NONE) == 0) return range;
    } catch (const sdk::Failure &) { // no address space is left
    }
    return std::nullopt;
}

} // namespace

Memory::Memory(Machine &machine) : parts_(std::make_unique<Parts>(machine)) {}
Memory::~Memory() = default;

uint64_t Memory::Parts::capacity(int device) const {
    if (device < 0) return machine.profile().host.memory;
    const ProfileDevice &profile = machine.device(device).profile();
    return profile.memory - profile.reserved;
}

bool Memory::Parts::charge(int device, uint64_t size) {
    std::atomic<uint64_t> &count = device < 0 ? *used.back() : *used[static_cast<size_t>(device)];
    if (count.fetch_add(size, std::memory_order_relaxed) + size <= capacity(device)) return true;
    count.fetch_sub(size, std::memory_order_relaxed);
    return false;
}

// `offset` bytes of it come before the block.
std::shared_ptr<Physical> Memory::Parts::take_physical(int device, uint64_t size, uint64_t alignment, uint64_t offset,
                                                       Outcome &outcome) {
    const uint64_t charged = up(size, device < 0 ? page : usual);
    outcome = Outcome::no_memory;
    const Fault fault = device < 0 ? Fault::oom_host : Fault::oom;
    if (machine.faults().fires(fault, device) || !charge(device, charged)) return nullptr;
    std::atomic<uint64_t> &count = device < 0 ? *used.back() : *used[static_cast<size_t>(device)];
    try {
        outcome = Outcome::ok;
        return std::make_shared<Physical>(sim::Mapping::zeroed(up(size + offset, page), std::max(alignment, page)), device,
                                          charged, &count);
    } catch (const sdk::Failure &) {
        outcome = Outcome::no_memory;
    } catch (const std::bad_alloc &) {
        outcome = Outcome::no_memory;
    }
    count.fetch_sub(charged, std::memory_order_relaxed);
    return nullptr;
}

Allocation Memory::Parts::add(std::shared_ptr<Block> block) {
    block->id = next_id.fetch_add(1, std::memory_order_relaxed);
    const uint64_t address = block->address;
    const std::lock_guard lock(mutex);
    blocks[address] = std::move(block);
    return {Outcome::ok, address};
}

Allocation Memory::allocate_device(int device, uint64_t size, uint64_t alignment, uint64_t flags) {
    Parts &parts = *parts_;
    if (!sane(size, alignment)) return {Outcome::invalid, 0};
    Device &home = parts.machine.device(device);
    if (home.lost()) return {Outcome::lost, 0};
    Faults &faults = parts.machine.faults();
    // No address is rounder than what was asked for, so that nobody takes more for granted.
    const uint64_t lead =
        (alignment >= page ? 0 : std::max(alignment, usual)) + (faults.fires(Fault::alignment_ignored, device) ? 64 : 0);
    auto block = std::make_shared<Block>();
    Outcome outcome{};
    const auto room = up(size + lead, page);
    const auto reuse = [&](std::shared_ptr<Physical> old) {
        if (old && old->device == device && old->bytes.size() >= room) block->physical = std::move(old);
    };
    {
        const std::lock_guard lock(parts.mutex);
        if (faults.any() && faults.on(Fault::same_memory, device) && faults.fires(Fault::same_memory, device))
            reuse(parts.latest);
        for (auto &old : parts.recycled)
            if (!block->physical) reuse(old);
        std::erase(parts.recycled, block->physical);
    }
    if (!block->physical) block->physical = parts.take_physical(device, size, alignment, lead, outcome);
    if (!block->physical) return {outcome, 0};
    block->size = size;
    block->device = device;
    block->flags = flags;
    block->physical_offset = lead;
    if (home.profile().cpu_access) {
        block->cpu = true;
        block->address = reinterpret_cast<uintptr_t>(block->physical->bytes.at(lead));
    } else {
        auto range = reserve_range(room, alignment);
        if (!range) return {Outcome::no_memory, 0};
        block->address = reinterpret_cast<uintptr_t>(range->at(lead));
        block->reservation = std::move(*range);
    }
    if (faults.fires(Fault::reused_dirty, device)) std::memset(block->bytes(0), 0xa5, size);
    if (faults.on(Fault::same_memory, device)) { // else the block's own memory goes with it
        const std::lock_guard lock(parts.mutex);
        parts.latest = block->physical;
    }
    return parts.add(std::move(block));
}

Allocation Memory::allocate_host(int device, uint64_t size, uint64_t alignment, uint64_t flags,
                                 std::optional<Coherence> coherence) {
    Parts &parts = *parts_;
    if (!sane(size, alignment)) return {Outcome::invalid, 0};
    if (device >= 0 && parts.machine.device(device).lost()) return {Outcome::lost, 0};
    auto block = std::make_shared<Block>();
    Outcome outcome{};
    block->physical = parts.take_physical(on_host, size, alignment, 0, outcome);
    if (!block->physical) return {outcome, 0};
    block->size = size;
    block->kind = MemoryKind::host;
    block->flags = flags;
    block->cpu = true;
    block->address = reinterpret_cast<uintptr_t>(block->physical->bytes.at(0));
    block->coherence =
        coherence.value_or(device < 0 ? Coherence::hardware : parts.machine.device(device).profile().host_access);
    return parts.add(std::move(block));
}

Allocation Memory::allocate_managed(int device, uint64_t size, uint64_t flags) {
    const Allocation made = allocate_host(device, size, 0, flags);
    if (made.outcome != Outcome::ok) return made;
    const auto block = parts_->holding(made.address);
    const std::lock_guard lock(parts_->mutex);
    block->kind = MemoryKind::managed;
    block->device = device;
    return made;
}

Outcome Memory::register_host(int device, void *at, uint64_t size, uint64_t flags, std::optional<Coherence> coherence) {
    Parts &parts = *parts_;
    if (!at || !sane(size, 0)) return Outcome::invalid;
    if (device >= 0 && parts.machine.device(device).lost()) return Outcome::lost;
    if (parts.machine.faults().fires(Fault::oom_host, on_host)) return Outcome::no_memory;
    const auto address = reinterpret_cast<uintptr_t>(at);
    {
        const std::shared_lock lock(parts.mutex);
        auto after = parts.blocks.lower_bound(address + size);
        if (after != parts.blocks.begin()) {
            const Block &before = *std::prev(after)->second;
            if (before.address + before.size > address) return Outcome::busy;
        }
    }
    if (!parts.charge(on_host, size)) return Outcome::no_memory;
    auto block = std::make_shared<Block>();
    block->physical = std::make_shared<Physical>(sim::Mapping::borrowed(at, size), on_host, size, parts.used.back().get());
    block->size = size;
    block->kind = MemoryKind::registered;
    block->unpinned = parts.machine.faults().fires(Fault::register_unpinned, device);
    block->flags = flags;
    block->cpu = true;
    block->address = address;
    block->coherence =
        coherence.value_or(device < 0 ? Coherence::hardware : parts.machine.device(device).profile().host_access);
    parts.add(std::move(block));
    return Outcome::ok;
}

Outcome Memory::unregister_host(void *at) {
    const std::lock_guard lock(parts_->mutex);
    const auto found = parts_->blocks.find(reinterpret_cast<uintptr_t>(at));
    if (found == parts_->blocks.end() || found->second->kind != MemoryKind::registered) return Outcome::unknown_address;
    parts_->blocks.erase(found);
    return Outcome::ok;
}

Outcome Memory::Parts::free_now(uint64_t address) {
    std::shared_ptr<Block> gone;
    const std::lock_guard lock(mutex);
    const auto found = blocks.find(address);
    if (found == blocks.end() || found->second->by_hand || found->second->kind == MemoryKind::registered)
        return Outcome::unknown_address;
    gone = found->second;
    blocks.erase(found);
    Faults &faults = machine.faults();
    if (faults.fires(Fault::free_in_flight, gone->device)) {
        ghosts[address] = gone; // its address range stays, so that nobody else gets it
        if (gone->kind == MemoryKind::device) recycled.push_back(gone->physical);
    }
    if (faults.fires(Fault::leak, gone->device)) gone->physical->used = nullptr;
    return Outcome::ok;
}

Outcome Memory::free(uint64_t address) {
    const auto block = parts_->holding(address);
    if (!block || block->address != address) return Outcome::unknown_address;
    Machine &machine = parts_->machine;
    const bool in_flight = machine.faults().on(Fault::free_in_flight, block->device);
    for (int i = 0; i < machine.device_count() && !in_flight; ++i)
        if ((block->device == i || block->kind != MemoryKind::device) && machine.device(i).contract().free_waits)
            machine.device(i).synchronize();
    return parts_->free_now(address);
}

} // namespace hbf::model
