// SPDX-License-Identifier: Apache-2.0
// Address ranges and physical memory, put together by the runtime's user.
#include <algorithm>

#include <sys/mman.h>

#include "conformance/sim/model/block.hpp"
#include "conformance/sim/model/machine.hpp"
#include "hbf/sdk/failure.hpp"

namespace hbf::model {
namespace {

constexpr uint64_t page = 4096, largest = uint64_t{1} << 46;

} // namespace

Allocation Memory::reserve(uint64_t size, uint64_t alignment) {
    if (size == 0 || size % page != 0 || size >= largest || (alignment & (alignment - 1)) != 0) return {Outcome::invalid, 0};
    try {
        sim::Mapping range = sim::Mapping::zeroed(size, std::max(alignment, page));
        if (::mprotect(range.at(0), size, PROT_NONE) != 0) return {Outcome::no_memory, 0};
        const auto address = reinterpret_cast<uintptr_t>(range.at(0));
        const std::lock_guard lock(parts_->mutex);
        parts_->reservations[address] = std::move(range);
        return {Outcome::ok, address};
    } catch (const sdk::Failure &) {
        return {Outcome::no_memory, 0};
    }
}

Outcome Memory::unreserve(uint64_t address, uint64_t size) {
    const std::lock_guard lock(parts_->mutex);
    const auto found = parts_->reservations.find(address);
    if (found == parts_->reservations.end() || found->second.size() != size) return Outcome::unknown_address;
    const auto inside = parts_->blocks.lower_bound(address);
    if (inside != parts_->blocks.end() && inside->first < address + size) return Outcome::busy;
    parts_->reservations.erase(found);
    return Outcome::ok;
}

Allocation Memory::create_physical(int device, uint64_t size, uint64_t flags) {
    Device *const home = device < 0 ? nullptr : &parts_->machine.device(device);
    const uint64_t granularity = home ? home->profile().allocation_granularity : page;
    if (size == 0 || size >= largest || size % granularity != 0) return {Outcome::invalid, 0};
    if (home && home->lost()) return {Outcome::lost, 0};
    Outcome outcome{};
    auto physical = parts_->take_physical(device, size, granularity, 0, outcome);
    if (!physical) return {outcome, 0};
    physical->flags = flags;
    const uint64_t handle = parts_->next_id.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard lock(parts_->mutex);
    parts_->physicals[handle] = std::move(physical);
    return {Outcome::ok, handle};
}

Outcome Memory::release_physical(uint64_t handle) {
    std::shared_ptr<Physical> gone;
    const std::lock_guard lock(parts_->mutex);
    const auto found = parts_->physicals.find(handle);
    if (found == parts_->physicals.end()) return Outcome::unknown_address;
    gone = std::move(found->second);
    parts_->physicals.erase(found);
    return Outcome::ok;
}

Outcome Memory::map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle) {
    const std::lock_guard lock(parts_->mutex);
    const auto after = parts_->reservations.upper_bound(address);
    if (after == parts_->reservations.begin()) return Outcome::unknown_address;
    const auto &[start, range] = *std::prev(after);
    const uint64_t in = address - start;
    if (in >= range.size()) return Outcome::unknown_address;
    if (size == 0 || size > range.size() - in) return Outcome::out_of_range;
    const auto found = parts_->physicals.find(handle);
    if (found == parts_->physicals.end()) return Outcome::invalid;
    const auto &physical = found->second;
    if (offset > physical->bytes.size() || size > physical->bytes.size() - offset) return Outcome::out_of_range;
    const auto next = parts_->blocks.lower_bound(address);
    if (next != parts_->blocks.end() && next->first < address + size) return Outcome::busy;
    if (next != parts_->blocks.begin() && std::prev(next)->second->address + std::prev(next)->second->size > address)
        return Outcome::busy;
    auto block = std::make_shared<Block>();
    block->address = address;
    block->size = size;
    block->id = parts_->next_id.fetch_add(1, std::memory_order_relaxed);
    block->flags = physical->flags;
    block->device = physical->device;
    block->kind = physical->device < 0 ? MemoryKind::host : MemoryKind::device;
    block->by_hand = true;
    block->physical_handle = handle;
    block->physical = physical;
    block->physical_offset = offset;
    parts_->blocks[address] = std::move(block);
    return Outcome::ok;
}

Outcome Memory::unmap(uint64_t address, uint64_t size) {
    std::vector<std::shared_ptr<Block>> gone;
    const std::lock_guard lock(parts_->mutex);
    auto &blocks = parts_->blocks;
    const auto begin = blocks.lower_bound(address), end = blocks.lower_bound(address + size);
    if (begin == end) return Outcome::unknown_address;
    for (auto each = begin; each != end; ++each)
        if (!each->second->by_hand || each->second->address + each->second->size > address + size) return Outcome::invalid;
    for (auto each = begin; each != end; ++each) gone.push_back(each->second);
    blocks.erase(begin, end);
    return Outcome::ok;
}

Outcome Memory::set_access(uint64_t address, uint64_t size, int device, bool allowed) {
    if (device >= 64) return Outcome::invalid;
    const std::lock_guard lock(parts_->mutex);
    const auto begin = parts_->blocks.lower_bound(address), end = parts_->blocks.lower_bound(address + size);
    if (begin == end) return Outcome::unknown_address;
    for (auto each = begin; each != end; ++each) {
        Block &block = *each->second;
        if (!block.by_hand) return Outcome::invalid;
        if (device < 0) continue; // the CPU never reaches it at its device address
        if (allowed && block.kind == MemoryKind::device && block.device != device &&
            !parts_->machine.peer_advertised(device, block.device))
            return Outcome::unsupported;
        const uint64_t bit = uint64_t{1} << device;
        allowed ? block.allowed.fetch_or(bit) : block.allowed.fetch_and(~bit);
    }
    return Outcome::ok;
}

bool Memory::access(uint64_t address, int device) const {
    const auto block = parts_->holding(address);
    return block && parts_->allowed({device, Agent::Kind::compute}, Reach::kernel, *block) == Outcome::ok;
}

} // namespace hbf::model
