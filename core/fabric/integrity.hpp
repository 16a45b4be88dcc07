// SPDX-License-Identifier: Apache-2.0
// What checksums say once Ops have run.
#pragma once

#include <span>
#include <vector>

#include "core/fabric/op.hpp"
#include "hbf/queue.hpp"
#include "hbf/status.hpp"

namespace hbf::fabric {

struct Mismatch {
    const RegionSlot *slot = nullptr; // nullptr: all is well
    uint64_t offset = 0;              // of the piece
    uint64_t size = 0;
    uint32_t expected = 0, actual = 0;
};

// In the Ops' order: compares what each copy read with what is on record of its source, keeps the checksums of what
// integrity copies wrote, and forgets those of granules that other commands wrote. Ends at the first mismatch.
Mismatch settle(std::span<const Op> ops, const OpData &data, uint64_t &checked_bytes, VerifiedBy &verified_by) noexcept;

// The Ops failed, or their result does not count: nothing is known of what they would have written.
void forget(std::span<const Op> ops, const OpData &data) noexcept;

// Which of the Ops' regions the plugin means, nullptr if none.
const RegionSlot *find_slot(std::span<const Op> ops, const OpData &data, hbf_region handle) noexcept;

Error describe(const Mismatch &mismatch);

} // namespace hbf::fabric
