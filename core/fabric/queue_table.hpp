// SPDX-License-Identifier: Apache-2.0
// Finds a queue by its number, also after it is gone: a point on a closed queue's timeline still has an outcome.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/fabric/tables.hpp"
#include "hbf/status.hpp"

namespace hbf::fabric {

class QueueCore;

struct Outcome {
    enum class State : uint8_t { never_submitted, pending, done } state = State::pending;
    Code code = Code::ok; // of a value that is done
};

struct QueueEntry {
    std::atomic<bool> published{false};
    std::weak_ptr<QueueCore> core; // written once, before published

    // What is left of a closed queue; written before `closed`.
    std::atomic<bool> closed{false};
    uint64_t last = 0, failed = 0;
    Code failed_code = Code::ok;
    std::vector<uint64_t> cancelled;

    Outcome outcome_when_closed(uint64_t value) const noexcept;
};

NumberTable<QueueEntry> &queue_table();

} // namespace hbf::fabric
