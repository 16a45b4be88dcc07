// SPDX-License-Identifier: Apache-2.0
// A batch: commands that are submitted together. Reuse one object: clear() keeps its memory, so a warmed batch allocates
// nothing. [one thread at a time]
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hbf/export.hpp"
#include "hbf/kernel.hpp"
#include "hbf/region.hpp"

namespace hbf {

// How a copy's bytes are proven. Checksums are CRC-32C per 64 KiB granule; integrity copies start at granule bounds.
enum class Integrity : uint8_t {
    none,
    next_read, // the CRC taken while copying is kept with the destination granule and checked when that granule is next
               // copied
    readback,  // the destination is read again after completion and compared
    kernel,    // as readback, by a kernel on the device that holds the destination
};

// A point on a queue's timeline, across devices too.
struct Point {
    uint32_t queue = 0; // process-wide queue number, never reused; 0: none
    uint64_t value = 0;
};

struct Command {
    enum class Kind : uint8_t { copy, fill, flush, invalidate, launch, wait, barrier } kind = Kind::barrier;
    Integrity integrity = Integrity::none;
    Region dst, src;
    uint64_t dst_offset = 0, src_offset = 0, size = 0; // bytes
    uint64_t pattern = 0;                              // fill
    uint32_t pattern_size = 0;                         // fill: 1, 2, 4, 8
    Point point;                                       // wait
    Kernel kernel;                                     // launch
    uint32_t buffers_begin = 0, buffer_count = 0;      // launch: in buffers()
    uint32_t arguments_begin = 0, arguments_size = 0;  // launch: in arguments()
    uint32_t groups[3] = {1, 1, 1}, group_size[3] = {1, 1, 1};
};

class HBF_API Batch {
public:
    void reserve(size_t commands) { commands_.reserve(commands); }
    void clear();

    // Regions may be on different devices: the fabric stages what has no direct path.
    Batch &copy(Region dst, uint64_t dst_offset, Region src, uint64_t src_offset, uint64_t size,
                Integrity integrity = Integrity::none);
    Batch &fill(Region dst, uint64_t offset, uint64_t size, uint64_t pattern, uint32_t pattern_size = 8);
    Batch &flush(Region region, uint64_t offset, uint64_t size);
    Batch &invalidate(Region region, uint64_t offset, uint64_t size);
    // A kernel of the queue's device (Device::find_kernel) over memory of that device. Buffers and arguments are copied.
    // What is not among the buffers is not touched by the kernel; recorded checksums of what it writes are dropped.
    Batch &launch(const Kernel &kernel, std::span<const KernelBuffer> buffers, std::span<const std::byte> arguments,
                  const uint32_t (&groups)[3], const uint32_t (&group_size)[3]);
    Batch &launch(const Kernel &kernel, std::span<const KernelBuffer> buffers, std::span<const std::byte> arguments,
                  uint32_t groups, uint32_t group_size); // one-dimensional
    Batch &wait(Point point); // later commands run after it; the point must have been returned by submit
    Batch &barrier();         // later commands of this batch run after the earlier ones

    std::span<const Command> commands() const { return commands_; }
    std::span<const std::byte> arguments() const { return arguments_; }
    std::span<const KernelBuffer> buffers() const { return buffers_; }

private:
    std::vector<Command> commands_;
    std::vector<KernelBuffer> buffers_;
    std::vector<std::byte> arguments_;
};

} // namespace hbf
