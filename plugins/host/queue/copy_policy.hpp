// SPDX-License-Identifier: Apache-2.0
// The sizes at which the host's copies change their way of working. `./dev bench copy` shows each crossover on this machine.
#pragma once

#include <cstdint>

#include "kernels/host/copy.hpp"

namespace hbf::host {

// Streaming stores save reading the destination's lines first, and keep the caches for others; below this the bytes are
// likelier to be read again soon, and the head, tail and fence weigh more than is saved.
inline constexpr uint64_t streaming_from = 32 * 1024;

inline kernels::Stores stores_for(uint64_t size) {
    return size >= streaming_from ? kernels::Stores::streaming : kernels::Stores::regular;
}

// Waking a worker costs the submitter a few microseconds and the work some 35: what this takes to copy. So up to here the
// batch runs inside submit.
inline constexpr uint64_t inline_up_to = 1024 * 1024;

// One thread's turn at a large copy. Large enough that claiming it costs nothing, small enough that a deadline is met and
// that nobody waits long for a helper which lost its CPU. A multiple of HBF_CRC_PIECE.
inline constexpr uint64_t turn_size = 256 * 1024;

// One read or write of storage; a multiple of HBF_CRC_PIECE.
inline constexpr uint64_t storage_turn_size = 1024 * 1024;

} // namespace hbf::host
