// SPDX-License-Identifier: Apache-2.0
// What a measurement needs of a device. The fabric stands behind it in earnest, a lying device in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "conformance/measure/clock.hpp"
#include "hbf/region.hpp"
#include "hbf/status.hpp"

namespace hbf::measure {

struct Buffer {
    Region region;
    uint64_t size = 0;            // bytes
    std::byte *address = nullptr; // CPU address, nullptr where there is none
    uint64_t page_size = 0;       // bytes, 0 where pages do not apply
};

struct Move {
    Region dst;
    uint64_t dst_offset = 0;
    Region src;
    uint64_t src_offset = 0, size = 0; // bytes
};

// [one thread at a time]
class Target {
public:
    virtual ~Target() = default;

    // One value of the queue; the moves of one call are unordered among themselves.
    virtual Result<uint64_t> submit(std::span<const Move> moves) = 0;
    virtual uint64_t completed() = 0;          // never blocks
    virtual Result<> wait(uint64_t value) = 0; // its error if it failed; returns when the writes have drained
    virtual Result<> written_by_cpu(const Buffer &buffer, uint64_t offset, uint64_t size) = 0;

    // The gate: what is submitted after close_gate is held back, so that submitting it is not timed. open_gate lets it go
    // and returns the last instant at which it was seen to be held; nothing if it was not (an executor that works inside
    // submit or wait, or a gate that opened too early).
    virtual void close_gate() {}
    virtual std::optional<Clock::time_point> open_gate() { return std::nullopt; }
};

} // namespace hbf::measure
