// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/execute.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "kernels/host/copy.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::sim {
namespace {

// Where in the bounce buffer bytes bound for `offset` lie: words stay words on both sides.
std::byte *bounce_for(Bounce &bounce, uint64_t offset) {
    return bounce.bytes.data() + offset % sizeof(uint64_t);
}

uint32_t crc_of_zeros(uint64_t size, const std::byte *zeros) {
    static const uint32_t whole = [] {
        const std::array<std::byte, HBF_CRC_PIECE> piece{};
        return kernels::crc32c(piece.data(), piece.size());
    }();
    return size == HBF_CRC_PIECE ? whole : kernels::crc32c(zeros, size);
}

// Not where the store holds nothing yet: such pieces are zero, and stay untouched.
void write_zeros(Store &dst, uint64_t offset, uint64_t size, Bounce &bounce) {
    std::byte *const zeros = bounce_for(bounce, offset);
    std::memset(zeros, 0, std::min<uint64_t>(size, HBF_CRC_PIECE));
    for (const uint64_t end = offset + size; offset < end;) {
        const uint64_t part = std::min(Store::piece - offset % Store::piece, end - offset);
        if (!dst.hole(offset, part)) dst.write(offset, zeros, part);
        offset += part;
    }
}

// A piece of a copy, by offset and size in the ranges.
void copy_piece(const Command &command, uint64_t from, uint64_t size, Bounce &bounce) {
    Store &dst = command.dst.region->store, &src = command.src.region->store;
    const uint64_t to = command.dst.offset + from, at = command.src.offset + from;
    std::byte *const buffer = bounce_for(bounce, at);
    const bool zeros = src.hole(at, size);
    if (zeros && size < HBF_CRC_PIECE) std::memset(buffer, 0, size);
    if (!zeros) src.read(at, buffer, size);
    if (command.crc) command.crc[from / HBF_CRC_PIECE] = zeros ? crc_of_zeros(size, buffer) : kernels::crc32c(buffer, size);
    if (zeros)
        write_zeros(dst, to, size, bounce);
    else
        dst.write(to, buffer, size);
}

std::optional<sdk::Failure> copy(const Command &command, Bounce &bounce, Counters &counters, uint64_t fail_copy) {
    const bool fails = counters.copies.fetch_add(1, std::memory_order_relaxed) + 1 == fail_copy;
    const uint64_t end = fails ? command.size / 2 : command.size;
    for (uint64_t from = 0; from < end; from += HBF_CRC_PIECE)
        copy_piece(command, from, std::min<uint64_t>(HBF_CRC_PIECE, end - from), bounce);
    counters.bytes_moved.fetch_add(end, std::memory_order_relaxed);
    if (!fails) return std::nullopt;
    counters.uncorrected.fetch_add(1, std::memory_order_relaxed);
    return sdk::Failure{HBF_DATA_LOSS,
                        fmt::format("simulated uncorrectable error at {} of the source", command.src.offset + end),
                        command.src.handle, command.src.offset + end};
}

void fill(const Command &command, Bounce &bounce, Counters &counters) {
    Store &dst = command.dst.region->store;
    counters.bytes_moved.fetch_add(command.size, std::memory_order_relaxed);
    if (command.pattern << (64 - 8 * command.pattern_size) == 0)
        return write_zeros(dst, command.dst.offset, command.size, bounce);
    std::byte *const buffer = bounce_for(bounce, command.dst.offset);
    kernels::fill(buffer, std::min<uint64_t>(command.size, HBF_CRC_PIECE), command.pattern, command.pattern_size,
                  kernels::Stores::regular);
    for (uint64_t from = 0; from < command.size; from += HBF_CRC_PIECE)
        dst.write(command.dst.offset + from, buffer, std::min<uint64_t>(HBF_CRC_PIECE, command.size - from));
}

} // namespace

std::optional<sdk::Failure> execute(const Command &command, Bounce &bounce, Counters &counters, uint64_t fail_copy) {
    Region *const region = command.dst.region;
    switch (command.kind) {
    case HBF_COMMAND_COPY:
        return copy(command, bounce, counters, fail_copy);
    case HBF_COMMAND_FILL:
        fill(command, bounce, counters);
        break;
    case HBF_COMMAND_FLUSH:
        if (region->shadow) region->shadow->flush(region->store, command.dst.offset, command.size);
        break;
    case HBF_COMMAND_INVALIDATE:
        if (region->shadow) region->shadow->invalidate(region->store, command.dst.offset, command.size);
        break;
    case HBF_COMMAND_LAUNCH:
        run(*command.launch);
        counters.launches.fetch_add(1, std::memory_order_relaxed);
        break;
    default:
        return sdk::Failure{HBF_INTERNAL, fmt::format("command {} reached an engine", command.kind), 0, HBF_NO_PLACE};
    }
    return std::nullopt;
}

} // namespace hbf::sim
