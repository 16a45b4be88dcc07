// SPDX-License-Identifier: Apache-2.0
// An agent's cache of one block: lines that it fetched, and what it wrote to them. Nothing moves between them and the block
// but by what is called here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "conformance/sim/mapping.hpp"

namespace hbf::model {

class LineCache {
public:
    // `home`: the block's bytes, which outlive this.
    LineCache(std::byte *home, uint64_t size, uint64_t line);

    void read(uint64_t offset, std::byte *to, uint64_t size);          // missing lines are fetched
    void read_held(uint64_t offset, std::byte *to, uint64_t size);     // missing lines read as they last were, or as zero
    void write(uint64_t offset, const std::byte *from, uint64_t size); // stays here
    void write_back(uint64_t offset, uint64_t size);                   // what was written, whole lines
    void invalidate(uint64_t offset, uint64_t size);                   // what was written is lost

    // For a kernel, which runs on the lines themselves: fetched, and afterwards what it changed is known as written.
    std::byte *begin(uint64_t offset, uint64_t size);
    void end(uint64_t offset, uint64_t size);

private:
    enum State : uint8_t { valid = 1, dirty = 2 };
    template <class Each>
    void each_line(uint64_t offset, uint64_t size, Each &&each);
    void fetch(uint64_t offset, uint64_t size);

    std::byte *const home_;
    const uint64_t size_, line_;
    std::mutex mutex_;
    sim::Mapping lines_, clean_, states_; // clean: a line as it was fetched or written back, a state is a byte
};

} // namespace hbf::model
