// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/block.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

#include "conformance/sim/model/machine.hpp"
#include "conformance/sim/words.hpp"

namespace hbf::model {
namespace {

// The process's own memory, which may be gone by now: the kernel says so where a look of our own would end the process.
bool move_pageable(bool write, uint64_t at, std::byte *bytes, uint64_t size) {
    const iovec own{bytes, size}, other{reinterpret_cast<void *>(at), size}; // NOLINT(performance-no-int-to-ptr)
    const ssize_t moved = write ? ::process_vm_writev(::getpid(), &own, 1, &other, 1, 0)
                                : ::process_vm_readv(::getpid(), &own, 1, &other, 1, 0);
    if (moved >= 0) return static_cast<uint64_t>(moved) == size;
    if (errno != ENOSYS && errno != EPERM) return false;
    auto *const direct = reinterpret_cast<std::byte *>(at); // NOLINT(performance-no-int-to-ptr)
    write ? sim::move_words(direct, bytes, size) : sim::move_words(bytes, direct, size);
    return true;
}

} // namespace

Physical::Physical(sim::Mapping mapping, int home, uint64_t charge, std::atomic<uint64_t> *count)
    : bytes(std::move(mapping)), device(home), charged(charge), used(count) {}

Physical::~Physical() {
    if (used) used->fetch_sub(charged, std::memory_order_relaxed);
}

void Block::touch() noexcept {
    written_ns.store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

LineCache &Block::cache(Agent agent, uint64_t line) {
    std::lock_guard lock(caches_mutex_);
    std::unique_ptr<LineCache> &made = caches_[key(agent)];
    if (!made) made = std::make_unique<LineCache>(bytes(0), size, line);
    return *made;
}

bool End::readable(uint64_t at, std::byte *to, uint64_t size) const {
    if (!block) return move_pageable(false, offset + at, to, size);
    read(at, to, size);
    return true;
}

void End::read(uint64_t at, std::byte *to, uint64_t size) const {
    if (dropped)
        std::memset(to, 0xff, size);
    else if (cache && held)
        cache->read_held(offset + at, to, size);
    else if (cache)
        cache->read(offset + at, to, size);
    else
        sim::move_words(to, block->bytes(offset + at), size);
}

bool End::write(uint64_t at, const std::byte *from, uint64_t size) const {
    if (dropped) return true;
    if (!block) return move_pageable(true, offset + at, const_cast<std::byte *>(from), size);
    if (cache) cache->write(offset + at, from, size);
    if (cache && write_through) cache->write_back(offset + at, size);
    if (!cache) sim::move_words(block->bytes(offset + at), from, size);
    block->touch();
    return true;
}

Memory::Parts::Parts(Machine &the_machine) : machine(the_machine) {
    for (int i = 0; i <= machine.device_count(); ++i) used.push_back(std::make_unique<std::atomic<uint64_t>>(0));
}

std::shared_ptr<Block> Memory::Parts::holding(uint64_t address) const {
    const std::shared_lock lock(mutex);
    for (const auto *map : {&blocks, &ghosts}) {
        auto after = map->upper_bound(address);
        if (after == map->begin()) continue;
        const std::shared_ptr<Block> &block = std::prev(after)->second;
        if (address - block->address < block->size) return block;
    }
    return nullptr;
}

Outcome Memory::Parts::allowed(Agent agent, Reach reach, const Block &block) const {
    if (block.by_hand) {
        const auto granted = [&](int device) { return device >= 0 && ((block.allowed.load() >> device) & 1) != 0; };
        return granted(agent.device) || (reach == Reach::copy && granted(block.device)) ? Outcome::ok : Outcome::no_access;
    }
    if (block.kind != MemoryKind::device || agent.device == block.device || reach == Reach::copy) return Outcome::ok;
    return agent.device >= 0 && machine.peer_enabled(agent.device, block.device) ? Outcome::ok : Outcome::no_access;
}

Outcome Memory::Parts::resolve(Agent agent, Reach reach, uint64_t address, uint64_t size, bool reads, End &out) {
    out = {};
    out.block = holding(address);
    out.offset = address;
    if (!out.block) {
        const std::shared_lock lock(mutex);
        auto after = reservations.upper_bound(address);
        const bool reserved =
            after != reservations.begin() && address - std::prev(after)->first < std::prev(after)->second.size();
        const bool all = agent.device >= 0 && machine.device(agent.device).profile().pageable_access;
        const bool far = reach == Reach::kernel && !all;
        return far || reserved || address == 0 ? Outcome::unknown_address : Outcome::ok;
    }
    Block &block = *out.block;
    out.offset = address - block.address;
    if (size > block.size - out.offset) return Outcome::out_of_range;
    if (const Outcome may = allowed(agent, reach, block); may != Outcome::ok) return may;
    if (agent.device < 0) return Outcome::ok;
    const uint64_t line = machine.device(agent.device).profile().line;
    if (block.kind == MemoryKind::device) {
        if (block.device == agent.device) return Outcome::ok;
        const bool direct = block.by_hand ? allowed(agent, Reach::kernel, block) == Outcome::ok
                                          : machine.peer_enabled(agent.device, block.device);
        out.dropped = direct && machine.peer_access(agent.device, block.device) != PeerAccess::works;
        return Outcome::ok;
    }
    if (block.coherence == Coherence::software ||
        (block.coherence == Coherence::boundary && agent.kind == Agent::Kind::compute)) {
        out.cache = &block.cache(agent, line);
        return Outcome::ok;
    }
    if (reads && machine.faults().on(Fault::stale_line, agent.device)) {
        out.cache = &block.cache(agent, line);
        out.write_through = true;
        if (!machine.faults().fires(Fault::stale_line, agent.device)) out.cache->invalidate(out.offset, size);
    }
    return Outcome::ok;
}

} // namespace hbf::model
