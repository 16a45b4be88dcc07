// SPDX-License-Identifier: Apache-2.0
// What O_DIRECT asks of a file: alignment of memory, offset and size.
#pragma once

#include <cstdint>
#include <optional>

namespace hbf::host {

struct Alignment {
    uint32_t memory = 1, offset = 1; // bytes, powers of two; 1: no direct I/O, anything goes
    bool operator==(const Alignment &) const = default;
};

// Of a file opened with O_DIRECT that is at least 64 KiB long: the kernel's own word (statx), else found by trying reads.
// Empty where direct reads are refused.
std::optional<Alignment> direct_alignment(int fd);

} // namespace hbf::host
