// SPDX-License-Identifier: Apache-2.0
// What a copy engine does: copies and fills, and what may be wrong with them.
#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include <sys/mman.h>

#include "conformance/sim/model/block.hpp"
#include "conformance/sim/model/engines.hpp"
#include "conformance/sim/model/parts.hpp"
#include "conformance/sim/words.hpp"

namespace hbf::model {
namespace {

constexpr uint64_t piece = 64 * 1024;

// Words stay words on both sides: bytes bound for `at` lie as it does.
struct Bounce {
    alignas(64) std::array<std::byte, piece + 8> bytes;
    std::byte *at(uint64_t place) { return bytes.data() + place % 8; }
};
Bounce &bounce() {
    thread_local Bounce one;
    return one;
}

struct Transfer {
    Machine &machine;
    int device;
    End dst, src;
    const std::byte *staged; // in place of src
    uint64_t size;
};

uint64_t room_after(const End &end, uint64_t size) {
    return end.block ? end.block->size - end.offset - size : 0;
}

bool plain(const End &end) {
    return end.block && !end.cache && !end.dropped;
}

bool move_piece(const Transfer &t, uint64_t at, uint64_t size) {
    if (!t.staged && plain(t.src) && plain(t.dst)) {
        sim::move_words(t.dst.block->bytes(t.dst.offset + at), t.src.block->bytes(t.src.offset + at), size);
        t.dst.block->touch();
        return true;
    }
    std::byte *const buffer = bounce().at(t.dst.offset + at);
    if (t.staged)
        std::memcpy(buffer, t.staged + at, size);
    else if (!t.src.readable(at, buffer, size))
        return false;
    return t.dst.write(at, buffer, size);
}

Outcome move_all(const Transfer &t, uint64_t size, bool torn) {
    if (torn) {
        for (uint64_t at = size; at-- > 0;) {
            if (!move_piece(t, at, 1)) return Outcome::unknown_address;
            if (at % 1024 == 512) std::this_thread::yield();
        }
        return Outcome::ok;
    }
    for (uint64_t at = 0; at < size; at += piece)
        if (!move_piece(t, at, std::min(piece, size - at))) return Outcome::unknown_address;
    return Outcome::ok;
}

void change(const End &end, uint64_t at, std::byte set, std::byte toggle) {
    std::byte value{};
    if (!end.readable(at, &value, 1)) return;
    value = (value | set) ^ toggle;
    end.write(at, &value, 1);
}

// Before anything moves.
void misplace(Transfer &t, Faults &faults) {
    const auto fires = [&](Fault fault) { return faults.fires(fault, t.device); };
    if (fires(Fault::drop_tail)) t.size -= std::min(t.size, faults.value(Fault::drop_tail, 64));
    if (fires(Fault::tail_rounded)) t.size &= ~uint64_t{63};
    if (fires(Fault::size_32)) t.size &= (uint64_t{1} << 22) - 1;
    if (t.dst.block && (t.dst.offset & 4096) != 0 && fires(Fault::address_bit)) t.dst.offset &= ~uint64_t{4096};
    if (room_after(t.src, t.size) != 0 && fires(Fault::offset_one)) ++t.src.offset;
    if (t.src.block && t.dst.block && t.src.home() == t.dst.home() && fires(Fault::swapped)) std::swap(t.src, t.dst);
}

// After all has moved.
void spoil(const Transfer &t, Faults &faults) {
    const auto fires = [&](Fault fault) { return faults.fires(fault, t.device); };
    if (t.size == 0) return;
    if (fires(Fault::flip)) {
        const uint64_t bit = faults.value(Fault::flip, 0);
        const uint64_t at = bit ? std::min(bit / 8, t.size - 1) : faults.dice(t.size);
        change(t.dst, at, std::byte{0}, std::byte{1} << (bit ? bit % 8 : faults.dice(8)));
    }
    if (fires(Fault::stuck))
        for (uint64_t at = 1; at < t.size; at += 256) change(t.dst, at, std::byte{0x20}, std::byte{0});
    if (room_after(t.dst, t.size) != 0 && fires(Fault::writes_beside)) change(t.dst, t.size, std::byte{0}, std::byte{0xff});
}

// Errors of memory that is read. ok: none that stops the copy.
Outcome media(const Transfer &t, Faults &faults) {
    if (!t.src.block || t.src.block->kind != MemoryKind::device) return Outcome::ok;
    Health &health = t.machine.device(t.src.home()).health();
    const int home = t.src.home();
    if (faults.fires(Fault::ecc_corrected, home)) health.add(Counter::ecc_corrected, 1);
    const auto age_ns = now_ns() - static_cast<uint64_t>(t.src.block->written_ns.load(std::memory_order_relaxed));
    if (faults.on(Fault::fade, home) && age_ns > faults.value(Fault::fade, 50) * 1'000'000 &&
        faults.fires(Fault::fade, home))
        change(t.src, faults.dice(t.size), std::byte{0}, std::byte{1});
    if (faults.fires(Fault::ecc_silent, home)) {
        health.add(Counter::ecc_uncorrected, 1);
        change(t.src, t.size / 2, std::byte{0}, std::byte{0x11});
    }
    if (!faults.fires(Fault::ecc, home)) return Outcome::ok;
    health.add(Counter::ecc_uncorrected, 1);
    return Outcome::uncorrectable;
}

void count_link(const Transfer &t, Faults &faults) {
    if (t.src.home() == t.dst.home() || !faults.fires(Fault::link_errors, t.device)) return;
    Health &health = t.machine.device(t.device).health();
    const bool host_side = t.src.home() < 0 || t.dst.home() < 0;
    health.add(host_side ? Counter::pcie_replays : Counter::link_errors, 1);
    health.add(Counter::link_replays, host_side ? 0 : 1);
}

Outcome faulty_copy(Transfer &t) {
    Faults &faults = t.machine.faults();
    if (faults.fires(Fault::lost_copy, t.device)) return Outcome::ok;
    if (faults.fires(Fault::peer_drops_writes, t.device) && t.dst.home() >= 0 && t.dst.home() != t.device)
        t.dst.dropped = true;
    Outcome outcome = media(t, faults);
    if (outcome == Outcome::ok && faults.fires(Fault::fail, t.device)) outcome = Outcome::failed;
    if (outcome != Outcome::ok) {
        move_all(t, t.size / 2, false);
        return outcome;
    }
    misplace(t, faults);
    outcome = move_all(t, t.size, faults.fires(Fault::torn, t.device));
    if (outcome == Outcome::ok) spoil(t, faults);
    count_link(t, faults);
    return outcome;
}

struct Part {
    uint64_t begin = 0, end = 0;
};

// Zeros over whole pages of a device's memory, which is the machine's own mapping: the pages are given back to the kernel,
// whose next ones are zeros. Drivers' users zero what they allocate, and it would all be touched for that. Returns what of
// the destination is done.
Part zero_pages(const End &dst, uint64_t size) {
    constexpr uint64_t page = 4096, worth = 1 << 20;
    if (!plain(dst) || dst.block->kind != MemoryKind::device || size < worth) return {};
    std::byte *const bytes = dst.block->bytes(dst.offset); // an allocation begins anywhere in a page
    const uint64_t begin = (page - reinterpret_cast<uintptr_t>(bytes) % page) % page;
    const Part whole{begin, begin + (size - begin) / page * page};
    if (::madvise(bytes + whole.begin, whole.end - whole.begin, MADV_DONTNEED) != 0) return {};
    dst.block->touch();
    return whole;
}

bool fill_part(const End &dst, const std::byte *buffer, Part part) {
    for (uint64_t at = part.begin; at < part.end; at += piece)
        if (!dst.write(at, buffer, std::min(piece, part.end - at))) return false;
    return true;
}

} // namespace

Outcome run_copy(Machine &machine, int device, const Operation &operation) {
    Memory::Parts &memory = machine.memory().parts();
    const Agent agent{device, Agent::Kind::copy_engine};
    Transfer t{machine, device, {}, {}, operation.staged.get(), operation.size};
    Outcome outcome = memory.resolve(agent, Reach::copy, operation.dst, operation.size, false, t.dst);
    if (outcome != Outcome::ok) return outcome;
    if (!t.staged) outcome = memory.resolve(agent, Reach::copy, operation.src, operation.size, true, t.src);
    if (outcome != Outcome::ok) return outcome;
    if (!machine.faults().any()) return move_all(t, t.size, false);
    if (operation.as_device && t.src.block && t.src.block->kind == MemoryKind::managed &&
        machine.faults().fires(Fault::wrong_kind, device)) {
        t.src.cache = &t.src.block->cache(agent, machine.device(device).profile().line);
        t.src.held = true;
    }
    return faulty_copy(t);
}

Outcome run_fill(Machine &machine, int device, const Operation &operation) {
    End dst;
    const Agent agent{device, Agent::Kind::copy_engine};
    const Outcome outcome = machine.memory().parts().resolve(agent, Reach::copy, operation.dst, operation.size, false, dst);
    if (outcome != Outcome::ok) return outcome;
    Faults &faults = machine.faults();
    uint64_t size = operation.size;
    const bool fails = faults.fires(Fault::fail, device);
    if (fails) size /= 2;
    if (faults.fires(Fault::fill_tail, device)) size &= ~uint64_t{15};
    std::byte *const buffer = bounce().at(dst.offset);
    const uint64_t part = std::min(piece, size);
    for (uint64_t at = 0; at < part; at += operation.pattern_size)
        std::memcpy(buffer + at, operation.pattern.data(), std::min<uint64_t>(operation.pattern_size, part - at));
    const bool zeros = std::all_of(buffer, buffer + part, [](std::byte byte) { return byte == std::byte{0}; });
    const Part done = zeros ? zero_pages(dst, size) : Part{};
    const uint64_t rest = done.end & ~uint64_t{7}; // where a word of the buffer is one of the destination
    if (!fill_part(dst, buffer, {0, done.begin}) || !fill_part(dst, buffer, {rest, size})) return Outcome::unknown_address;
    if (size != 0 && faults.fires(Fault::stuck, device))
        for (uint64_t at = 1; at < size; at += 256) change(dst, at, std::byte{0x20}, std::byte{0});
    return fails ? Outcome::failed : Outcome::ok;
}

} // namespace hbf::model
