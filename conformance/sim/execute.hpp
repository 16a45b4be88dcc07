// SPDX-License-Identifier: Apache-2.0
// What a copy engine does with one command.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "conformance/sim/command.hpp"

namespace hbf::sim {

struct Counters {
    std::atomic<uint64_t> copies{0}, launches{0}, bytes_moved{0}, uncorrected{0};
};

// An engine's own memory, between reading and writing.
struct alignas(64) Bounce {
    std::array<std::byte, HBF_CRC_PIECE + sizeof(uint64_t)> bytes;
};

// Runs it whole. The `fail_copy`-th copy (0: none) meets an uncorrectable error half-way.
std::optional<sdk::Failure> execute(const Command &command, Bounce &bounce, Counters &counters, uint64_t fail_copy);

} // namespace hbf::sim
