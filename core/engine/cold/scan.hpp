// SPDX-License-Identifier: Apache-2.0
// The batches of one segment, as they stand on the medium.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/engine/cold/calls.hpp"
#include "core/engine/cold/format.hpp"

namespace hbf::kv::cold {

struct ScanFrom {
    int fd = -1;
    std::string file; // its name, for messages
    uint64_t segment_bytes = 0;
    LogId log{};
    uint64_t segment = 0;         // its sequence
    uint64_t place = first_batch; // where to begin
    uint64_t after = 0;           // batches come after this one
    bool look_beyond = false;     // where no batch stands, look for a later one, to the segment's end
    uint64_t until = UINT64_MAX;  // behind the last batch, where that is known
};

// Where no batch was, though one follows: its page is damaged, or was never written while a later one was.
struct Gap {
    uint64_t begin = 0, end = 0; // the place of the next batch
    uint64_t next = 0;           // and its sequence
};

struct Scanned {
    uint64_t end = first_batch; // behind the last batch
    uint64_t last = 0;          // its sequence
    std::vector<Gap> gaps;
};

// Calls `visit(page)` for each batch in order: the head says where it stands. The error is that of reading or of `visit`.
using VisitBatch = std::function<Result<>(const BatchPage &page)>;
Result<Scanned> scan_segment(const Calls &calls, const ScanFrom &from, const VisitBatch &visit);

// Where the bytes of entry `index` begin in the segment.
uint64_t offset_of_entry(const BatchPage &page, uint32_t index) noexcept;

// Whether the bytes of all entries are what their checksums say; `scratch` holds most_batch_bytes.
Result<bool> is_whole(const Calls &calls, int fd, const std::string &file, const BatchPage &page, std::byte *scratch);

} // namespace hbf::kv::cold
