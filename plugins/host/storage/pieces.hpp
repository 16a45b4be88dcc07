// SPDX-License-Identifier: Apache-2.0
// How one read or write of any offset, size and memory address becomes I/O that O_DIRECT accepts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "alignment.hpp"

namespace hbf::host {

struct Transfer {
    bool write = false;
    uint64_t offset = 0, size = 0; // in the file
    std::byte *memory = nullptr;   // the user's
};

enum class Path {
    direct,  // between the disk and the user's memory
    bounced, // through an aligned buffer of ours
    merged,  // a write of part of a block: the block is read, changed and written
};

struct Piece {
    Path path = Path::direct;
    uint64_t offset = 0;         // of the user's bytes in the file
    uint32_t size = 0;           // of the user's bytes
    std::byte *memory = nullptr; // the user's bytes
    uint64_t io_offset = 0;      // aligned, <= offset
    uint32_t io_size = 0;        // aligned, covers them
};

struct PieceLimits {
    uint32_t direct = 1u << 20;    // bytes of one direct I/O
    uint32_t bounced = 128u << 10; // bytes of one buffer
};

// The piece that begins `done` bytes (< size) into the transfer.
Piece next_piece(const Transfer &transfer, uint64_t done, Alignment alignment, const PieceLimits &limits);

} // namespace hbf::host
