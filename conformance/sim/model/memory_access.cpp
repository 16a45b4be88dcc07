// SPDX-License-Identifier: Apache-2.0
// What is where, who may touch it, and caches and third parties.
#include <algorithm>
#include <cstring>

#include "conformance/sim/model/block.hpp"
#include "conformance/sim/model/machine.hpp"
#include "conformance/sim/words.hpp"

namespace hbf::model {

std::optional<BlockInfo> Memory::find(uint64_t address) const {
    const auto block = parts_->holding(address);
    if (!block) return std::nullopt;
    BlockInfo info;
    info.address = block->address;
    info.size = block->size;
    info.kind = block->kind;
    info.device = block->device;
    info.id = block->id;
    info.flags = block->flags;
    info.cpu = block->cpu ? block->bytes(0) : nullptr;
    info.coherence = block->coherence;
    info.physical = block->physical_handle;
    return info;
}

Outcome Memory::check(Agent agent, uint64_t address, uint64_t size, bool *pageable) const {
    End end;
    const Reach reach = agent.kind == Agent::Kind::compute ? Reach::kernel : Reach::copy;
    const auto block = parts_->holding(address);
    if (pageable) *pageable = !block || block->unpinned;
    if (!block) return parts_->resolve(agent, reach, address, size, false, end);
    if (size > block->size - (address - block->address)) return Outcome::out_of_range;
    return parts_->allowed(agent, reach, *block);
}

Usage Memory::true_usage(int device) const {
    const auto &count = device < 0 ? *parts_->used.back() : *parts_->used[static_cast<size_t>(device)];
    const uint64_t capacity = parts_->capacity(device), used = std::min(count.load(std::memory_order_relaxed), capacity);
    const uint64_t total = device < 0 ? capacity : parts_->machine.device(device).profile().memory;
    return {total, capacity - used};
}

Usage Memory::usage(int device) const {
    Usage usage = true_usage(device);
    if (device >= 0 && parts_->machine.faults().on(Fault::capacity_overstated, device)) {
        usage.free += usage.total;
        usage.total *= 2;
    }
    return usage;
}

uint64_t Memory::blocks(int device) const {
    const std::shared_lock lock(parts_->mutex);
    return static_cast<uint64_t>(std::count_if(parts_->blocks.begin(), parts_->blocks.end(),
                                               [&](const auto &each) { return each.second->device == device; }));
}

Outcome Memory::write_back(Agent agent, uint64_t address, uint64_t size) {
    const auto block = parts_->holding(address);
    if (!block) return Outcome::unknown_address;
    if (size == 0) return Outcome::ok;
    if (size > block->size - (address - block->address)) return Outcome::out_of_range;
    if (parts_->machine.faults().fires(Fault::write_back_lost, agent.device)) return Outcome::ok;
    block->each_cache(agent, [&](LineCache &cache) { cache.write_back(address - block->address, size); });
    return Outcome::ok;
}

Outcome Memory::invalidate(Agent agent, uint64_t address, uint64_t size) {
    const auto block = parts_->holding(address);
    if (!block) return Outcome::unknown_address;
    if (size == 0) return Outcome::ok;
    if (size > block->size - (address - block->address)) return Outcome::out_of_range;
    if (parts_->machine.faults().fires(Fault::invalidate_lost, agent.device)) return Outcome::ok;
    block->each_cache(agent, [&](LineCache &cache) { cache.invalidate(address - block->address, size); });
    return Outcome::ok;
}

void Memory::write_back_all(Agent agent) {
    if (parts_->machine.faults().fires(Fault::write_back_lost, agent.device)) return;
    const std::shared_lock lock(parts_->mutex);
    for (const auto &[address, block] : parts_->blocks)
        block->each_cache(agent, [&](LineCache &cache) { cache.write_back(0, block->size); });
}

void Memory::invalidate_all(Agent agent) {
    if (parts_->machine.faults().fires(Fault::invalidate_lost, agent.device)) return;
    const std::shared_lock lock(parts_->mutex);
    for (const auto &[address, block] : parts_->blocks)
        block->each_cache(agent, [&](LineCache &cache) { cache.invalidate(0, block->size); });
}

Outcome Memory::third_party_write(uint64_t address, const void *bytes, uint64_t size) {
    const auto block = parts_->holding(address);
    if (!block) return Outcome::unknown_address;
    if (size > block->size - (address - block->address)) return Outcome::out_of_range;
    if (!parts_->machine.faults().fires(Fault::posted_write, block->device)) return poke(address, bytes, size);
    const auto *const from = static_cast<const std::byte *>(bytes);
    const std::lock_guard lock(parts_->mutex);
    parts_->posted.push_back({block->device, address, {from, from + size}});
    return Outcome::ok;
}

void Memory::flush_posted(int device) {
    if (parts_->machine.faults().value(Fault::posted_write, 0) == 1) return;
    std::vector<Parts::Posted> arrived;
    {
        const std::lock_guard lock(parts_->mutex);
        const auto stays = std::stable_partition(parts_->posted.begin(), parts_->posted.end(),
                                                 [&](const Parts::Posted &each) { return each.device != device; });
        arrived.assign(std::make_move_iterator(stays), std::make_move_iterator(parts_->posted.end()));
        parts_->posted.erase(stays, parts_->posted.end());
    }
    for (const Parts::Posted &each : arrived) poke(each.address, each.bytes.data(), each.bytes.size());
}

Outcome Memory::peek(uint64_t address, void *to, uint64_t size) const {
    const auto block = parts_->holding(address);
    if (!block) return Outcome::unknown_address;
    if (size > block->size - (address - block->address)) return Outcome::out_of_range;
    sim::move_words(static_cast<std::byte *>(to), block->bytes(address - block->address), size);
    return Outcome::ok;
}

Outcome Memory::poke(uint64_t address, const void *from, uint64_t size) {
    const auto block = parts_->holding(address);
    if (!block) return Outcome::unknown_address;
    if (size > block->size - (address - block->address)) return Outcome::out_of_range;
    sim::move_words(block->bytes(address - block->address), static_cast<const std::byte *>(from), size);
    return Outcome::ok;
}

} // namespace hbf::model
