// SPDX-License-Identifier: Apache-2.0
// The batch pages of a segment, read all at once: one after the other each costs a round trip to the medium, while whoever
// appends waits for room.
#pragma once

#include "core/engine/cold/pages.hpp"
#include "core/engine/cold/store.hpp"

namespace hbf::kv::cold {

class BatchPages {
public:
    BatchPages(const Store &store, uint32_t segment);
    BatchPages(const BatchPages &) = delete;
    BatchPages &operator=(const BatchPages &) = delete;

    // The store's, but what was read is not read again. As long as this lives.
    const Calls &calls() const { return calls_; }

private:
    const std::vector<uint32_t> places_; // in pages, in order
    std::vector<bool> there_;
    Pages pages_;
    Calls calls_;
};

} // namespace hbf::kv::cold
