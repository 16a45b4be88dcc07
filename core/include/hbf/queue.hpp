// SPDX-License-Identifier: Apache-2.0
// A queue: a timeline of values that complete in order. A failed value poisons its queue and everything that waited on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "hbf/batch.hpp"
#include "hbf/status.hpp"

namespace hbf {

namespace fabric {
class QueueCore;
}

struct QueueOptions {
    uint32_t depth = 0;    // values in flight, 0: the device's choice
    uint32_t commands = 0; // most commands in a batch, 0: the device's choice
};

enum class VerifiedBy : uint8_t { nobody, kernel, readback, next_read };

struct Completion {
    uint64_t value = 0;
    Code code = Code::ok;                        // cancelled, data_loss, ...
    VerifiedBy verified_by = VerifiedBy::nobody; // the weakest of the value's integrity copies
    uint64_t checked_bytes = 0; // bytes whose checksum was compared, not merely recorded, while doing this value
};

class HBF_API Queue {
public:
    Queue() = default;
    Queue(Queue &&) noexcept;
    Queue &operator=(Queue &&) noexcept;
    ~Queue(); // waits for work in flight, and for its callbacks to have run unless it is one of them that ends the queue

    // [one thread at a time per queue] Takes all or nothing. No allocation, no lock once warmed.
    // Code::exhausted: as many values as the queue is deep are in flight. Code::busy: another thread is in submit. A
    // poisoned queue refuses with its first failure.
    Result<Point> submit(const Batch &batch);

    uint64_t completed(); // [any thread] highest completed value; never blocks
    // [any thread] Of a completed value, also a failed one; Code::busy if it is not completed. What was verified is kept for
    // the last values only, for older ones it reads as nobody and 0.
    Result<Completion> status(uint64_t value);

    // [any thread] Result of the value: its error if it failed. Code::timeout leaves the work pending.
    Result<Completion> wait(uint64_t value, std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());

    // [any thread] Called once, from the core's progress thread (made at first use). It may submit, poll and register
    // further callbacks; it may not wait.
    Result<> on_complete(uint64_t value, std::function<void(const Result<Completion> &)> callback);

    // [any thread] What has not reached the device is removed; the rest stays in flight and its result is discarded. Either
    // way the value completes, in its turn, as cancelled, which does not poison the queue; what waited for it fails as
    // cancelled, and does poison its own. Code::invalid if it has completed.
    Result<> cancel(uint64_t value);

    Result<> poisoned() const; // the first failure, if there was one
    uint32_t id() const;

    explicit Queue(std::shared_ptr<fabric::QueueCore> core);

private:
    std::shared_ptr<fabric::QueueCore> core_;
};

} // namespace hbf
