// SPDX-License-Identifier: Apache-2.0
// Where the bytes of blocks come from that are not in memory: whoever stores blocks implements this, and region_source.hpp
// does it for any region of the fabric.
#pragma once

#include <cstdint>
#include <span>

#include "hbf/status.hpp"

namespace hbf::kv {

struct Fetch {
    uint64_t offset = 0; // where the bytes are, in the source's own address space
    uint64_t size = 0;   // bytes
    uint64_t into = 0;   // offset in the memory that was attached
};

// One thread at a time.
class BlockSource {
public:
    virtual ~BlockSource() = default;

    virtual uint64_t size() const noexcept = 0; // of the address space, bytes

    // Memory to fetch into, the caller's. Once, before the first fetch; the source lets go of it when it is destroyed.
    virtual Result<> attach(std::span<std::byte> memory) = 0;

    // Begins to fetch, and returns a number for wait() and discard(): one of them is called for each, once. `fetches` are
    // read before it returns. Allocates nothing once warmed.
    virtual Result<uint64_t> start(std::span<const Fetch> fetches) = 0;

    // The bytes are there, whole, and as verified as this source verifies. An error: they are not to be used.
    virtual Result<> wait(uint64_t ticket) = 0;

    // They are not wanted any more. Nothing is written to the memory once it returns.
    virtual void discard(uint64_t ticket) noexcept = 0;

    // Before its end: nothing is written to the memory any more. If not, it and the memory are kept for ever.
    virtual bool is_finished() noexcept { return true; }
};

} // namespace hbf::kv
