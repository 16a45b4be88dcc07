// SPDX-License-Identifier: Apache-2.0
// What a queue has the CPU do between two commands of the device: moves and fills of host memory, as a host function of the
// runtime. It calls nothing of CNRT or CNDrv (they refuse that in there) and nothing that could block.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::cambricon {

// Each run does the next of its pieces, so that a large copy is one record and many host functions. Of two tasks that share
// a copy each does every other piece.
struct HostTask {
    enum class Kind : uint8_t {
        copy,  // from -> to, both go on
        load,  // from goes on, to is the start of a pinned buffer each time
        store, // to goes on, from is that buffer
        fill,  // to, by pattern
    };
    Kind kind = Kind::copy;
    uint8_t width = 1; // of the pattern, bytes
    std::byte *to = nullptr;
    const std::byte *from = nullptr;
    uint64_t pattern = 0;
    uint64_t size = 0, piece = 0;
    uint64_t next = 0, step = 0; // where the next piece begins, and how far it is to the one after

    static void run(void *task) noexcept; // a HostTask
};

} // namespace hbf::cambricon
