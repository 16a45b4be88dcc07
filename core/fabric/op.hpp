// SPDX-License-Identifier: Apache-2.0
// One checked command of a batch: regions pinned, path chosen. What a queue keeps of it until its value completed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fabric/region_slots.hpp"
#include "hbf/abi/command.h"
#include "hbf/batch.hpp"

namespace hbf::fabric {

class DeviceCore;

struct Op { // trivial, so that a queue's store of them costs no memory before it is used
    Command::Kind kind;
    Integrity integrity;
    bool dst_software, src_software; // needs flush before and invalidate after
    bool staged;                     // through the bounce buffers: no device reaches both sides
    bool source_crc;                 // the fabric takes the checksum of the source itself, before the copy
    bool engine_crc;                 // the engine does while it copies
    bool readback;                   // the destination is read again
    bool dst_kernel, src_kernel;     // its device's kernel takes that checksum, nobody reads the bytes out
    DeviceCore *executor;            // whose queue runs it; kept alive by the entry
    DeviceCore *dst_device, *src_device;
    RegionSlot *dst, *src;             // pinned; nullptr where there is none
    hbf_region dst_handle, src_handle; // as the executor names them
    uint64_t dst_offset, src_offset, size;
    uint64_t pattern; // fill: pattern; launch: the plugin's id of the kernel
    uint32_t pattern_size;
    uint32_t crc_begin; // first of the copy's checksums in the entry's
    uint32_t arguments_begin, arguments_size;
    uint32_t buffers_begin, buffer_count; // launch: in the entry's
    uint32_t coherence;                   // flushes and invalidates that software domains need around it
    uint32_t groups[3], group_size[3];
    uint32_t dep; // wait: index in the entry's dependencies
};

struct WaitTarget { // of a wait on the same device; queue nullptr: only a barrier
    hbf_queue *queue;
    uint64_t value;
};

// What the Ops of one batch name by index. Vectors that are refilled batch after batch, so that a warmed one allocates
// nothing.
struct OpData {
    std::vector<uint32_t> crc;
    std::vector<std::byte> arguments;
    std::vector<hbf_kernel_buffer> buffers; // as the plugin gets them
    std::vector<RegionSlot *> slots;        // pinned; one a buffer
    std::vector<WaitTarget> waits;

    void clear() noexcept;
    void unpin() noexcept; // the slots
};

// ABI commands that a copy may become: two flushes, the copy, an invalidate; and per run of Ops two barriers.
inline constexpr uint32_t commands_per_op = 4, commands_per_run = 2;

// Flushes and invalidates around the Op: for Op::coherence.
uint32_t coherence_commands(const Op &op, const OpData &data) noexcept;

// Writes the ABI commands of `count` Ops to `out`, with the coherence operations that software domains need around them.
// Stops before `capacity` would be passed. Returns commands written and Ops taken.
struct Translated {
    uint32_t commands, ops;
};
Translated translate(const Op *ops, uint32_t count, OpData &data, hbf_command *out, uint32_t capacity);

} // namespace hbf::fabric
