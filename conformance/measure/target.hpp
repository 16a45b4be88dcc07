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
#include "kernels/host/pattern.hpp"

namespace hbf::measure {

struct Buffer {
    Region region;
    uint64_t size = 0;            // bytes
    std::byte *address = nullptr; // CPU address, nullptr where there is none
    uint64_t page_size = 0;       // bytes, 0 where pages do not apply
};

// Who moves the bytes, and how: the device's copy engine, or a kernel on its processors.
enum class Work : uint8_t {
    copy,         // the queue's own copy
    kernel_copy,  // kernel copy/1
    kernel_triad, // kernel triad/1, dst = src + 0 * second: three streams, and dst is checked as a copy is
    kernel_read,  // kernel pattern_verify/1: src is compared with what must be there, and nothing is written to dst
};

struct Move {
    Region dst;
    uint64_t dst_offset = 0;
    Region src;
    uint64_t src_offset = 0, size = 0; // bytes; kernels want multiples of 8
    Work work = Work::copy;
    uint64_t second_offset = 0;   // kernel_triad: of its other input, in src
    kernels::PatternKey key = {}; // kernel_read: src holds this pattern, its first word at src_offset
};

// What kernels that read have found, all together.
struct ReadFindings {
    uint64_t checked_words = 0, wrong_words = 0; // 8 bytes each
    uint64_t first_offset = 0;                   // bytes in src, of the first wrong word
    uint64_t expected = 0, actual = 0;           // of it
};
constexpr uint32_t most_reads = 64; // whose findings are kept until they are taken

// [one thread at a time]
class Target {
public:
    virtual ~Target() = default;

    // One value of the queue; the moves of one call are unordered among themselves.
    virtual Result<uint64_t> submit(std::span<const Move> moves) = 0;
    virtual uint64_t completed() = 0;          // never blocks
    virtual Result<> wait(uint64_t value) = 0; // its error if it failed; returns when the writes have drained
    virtual Result<> written_by_cpu(const Buffer &buffer, uint64_t offset, uint64_t size) = 0;

    // Of every kernel_read since the last call; all have completed.
    virtual Result<ReadFindings> take_findings() { return ReadFindings{}; }

    // The gate: what is submitted after close_gate is held back, so that submitting it is not timed. open_gate lets it go
    // and returns the last instant at which it was seen to be held; nothing if it was not (an executor that works inside
    // submit or wait, or a gate that opened too early).
    virtual void close_gate() {}
    virtual std::optional<Clock::time_point> open_gate() { return std::nullopt; }
};

} // namespace hbf::measure
