// SPDX-License-Identifier: Apache-2.0
// What a writer finds when it opens a log, whatever happened to the one before.
#pragma once

#include <cstdint>
#include <optional>

#include "core/engine/cold/store.hpp"

namespace hbf::kv::cold {

struct Recovered {
    uint64_t durable = 0;         // the last batch that is there
    uint64_t next_batch = 1;      // no batch ever had this sequence
    uint64_t last_segment = 0;    // the youngest segment's sequence
    std::optional<uint32_t> head; // that segment, where writing goes on
};

// Fills the index. Batches that were never finished are dropped; where others follow them, they are made holes, so that
// nobody takes them for finished ones later. What is there afterwards is on the medium.
Result<Recovered> recover(Store &store);

} // namespace hbf::kv::cold
