// SPDX-License-Identifier: Apache-2.0
#include "pieces.hpp"

#include <algorithm>

namespace hbf::host {
namespace {

uint64_t down(uint64_t value, uint64_t unit) {
    return value & ~(unit - 1);
}
uint64_t up(uint64_t value, uint64_t unit) {
    return down(value + unit - 1, unit);
}

} // namespace

Piece next_piece(const Transfer &transfer, uint64_t done, Alignment alignment, const PieceLimits &limits) {
    const uint64_t at = transfer.offset + done, end = transfer.offset + transfer.size, unit = alignment.offset;
    Piece piece;
    piece.offset = at;
    piece.memory = transfer.memory + done;
    uint64_t stop; // where the user's bytes of this piece end
    if (down(at, unit) != at || end - at < unit) {
        // Part of a block. A read may go on beyond it through the buffer where the memory will not line up anyway.
        stop = std::min(end, up(at + 1, unit));
        piece.path = transfer.write ? Path::merged : Path::bounced;
        const bool lines_up = (reinterpret_cast<uintptr_t>(piece.memory) + (stop - at)) % alignment.memory == 0;
        if (!transfer.write && !lines_up) stop = std::min(end, down(at, unit) + limits.bounced);
    } else if (reinterpret_cast<uintptr_t>(piece.memory) % alignment.memory == 0) {
        piece.path = Path::direct;
        stop = at + std::min<uint64_t>(down(end - at, unit), limits.direct);
    } else {
        piece.path = Path::bounced;
        stop = at + std::min<uint64_t>(down(end - at, unit), limits.bounced);
    }
    piece.size = static_cast<uint32_t>(stop - at);
    piece.io_offset = down(at, unit);
    piece.io_size = static_cast<uint32_t>(up(stop, unit) - piece.io_offset);
    return piece;
}

} // namespace hbf::host
