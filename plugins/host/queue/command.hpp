// SPDX-License-Identifier: Apache-2.0
// A command as the queue keeps it: checked, its regions pinned and resolved.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hbf/abi/command.h"
#include "region.hpp"

namespace hbf::host {

class StorageFile;
class Timeline;

// One end of a command.
struct Place {
    hbf_region region; // pinned; 0: this end is not used
    uint64_t offset;   // in the region
    std::byte *memory; // where that is, or nullptr
    StorageFile *file; // or this one, at `offset`
};

struct Command {
    hbf_command_kind kind;
    uint32_t flags;
    Place dst, src;        // flush and invalidate: dst
    uint64_t size;         // bytes
    uint32_t *crc;         // of a checksummed copy
    uint64_t pattern;      // of a fill
    uint32_t pattern_size; // bytes
    Timeline *timeline;    // of a wait for another value, retained; nullptr: a barrier
    uint64_t value;

    bool touches_storage() const { return dst.file || src.file; }
    bool moves_data() const { return kind == HBF_COMMAND_COPY || kind == HBF_COMMAND_FILL; }
};

inline bool overlap(const Place &a, uint64_t a_size, const Place &b, uint64_t b_size) {
    if (a.memory && b.memory) return a.memory < b.memory + b_size && b.memory < a.memory + a_size;
    if (a.file && a.file == b.file) return a.offset < b.offset + b_size && b.offset < a.offset + a_size;
    return false;
}

} // namespace hbf::host
