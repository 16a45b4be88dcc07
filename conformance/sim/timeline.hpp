// SPDX-License-Identifier: Apache-2.0
// How far a queue has come: read by anyone, written under the engine's lock. Kept alive by the commands that wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "hbf/sdk/queue.hpp"

namespace hbf::sim {

struct Timeline {
    std::atomic<uint64_t> completed{0}, failed{0}; // failed: set before its value completes
    std::atomic<hbf_status> status{HBF_OK};
    std::optional<sdk::Failure> failure; // under the lock, complete once `failed` is set

    sdk::Progress progress() const noexcept {
        sdk::Progress result;
        result.completed = completed.load(std::memory_order_acquire);
        result.failed = failed.load(std::memory_order_acquire);
        if (result.failed > result.completed) result.failed = 0; // recorded, its value is about to complete
        if (result.failed != 0) result.status = status.load(std::memory_order_relaxed);
        return result;
    }
};

} // namespace hbf::sim
