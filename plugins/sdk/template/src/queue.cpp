// SPDX-License-Identifier: Apache-2.0
#include "queue.hpp"

#include <cstring>
#include <string>

#include "hbf/sdk/wait.hpp"

namespace plugin {

using hbf::sdk::fail;

// All or nothing: every command is checked, and its regions pinned, before the first one runs.
uint64_t Queue::submit(const hbf::sdk::BatchView &batch) {
    struct Unpin {
        Queue &queue;
        ~Unpin() { queue.unpin_all(); }
    } unpin{*this};
    for (uint64_t i = 0; i < batch.size(); ++i) check(batch[i]);
    for (uint64_t i = 0; i < batch.size(); ++i) run(batch[i]);
    return completed_.fetch_add(1, std::memory_order_release) + 1;
}

void Queue::check(const hbf_command &command) {
    if (command.kind == HBF_COMMAND_COPY && command.flags == HBF_COPY_CRC32C)
        fail(HBF_UNSUPPORTED, "this queue computes no checksums"); // HBF_QUEUE_CAP_CRC32C is not declared
    if (command.flags != 0) fail(HBF_INVALID, "unknown flags " + std::to_string(command.flags));
    switch (command.kind) {
    case HBF_COMMAND_COPY: {
        const hbf_copy &c = command.u.copy;
        const std::byte *to = pin(c.dst, c.dst_offset, c.size), *from = pin(c.src, c.src_offset, c.size);
        if (to < from + c.size && from < to + c.size)
            fail(HBF_INVALID, "source and destination overlap", c.dst, c.dst_offset);
        return;
    }
    case HBF_COMMAND_FILL: {
        const hbf_fill &f = command.u.fill;
        if (f.pattern_size != 1 && f.pattern_size != 2 && f.pattern_size != 4 && f.pattern_size != 8)
            fail(HBF_INVALID, "a pattern has 1, 2, 4 or 8 bytes, not " + std::to_string(f.pattern_size));
        pin(f.dst, f.dst_offset, f.size);
        return;
    }
    case HBF_COMMAND_FLUSH:
    case HBF_COMMAND_INVALIDATE:
        pin(command.u.range.region, command.u.range.offset, command.u.range.size);
        return;
    case HBF_COMMAND_WAIT:
        if (command.u.wait.queue && !hbf::sdk::waited_queue(command.u.wait))
            fail(HBF_INVALID, "wait: submit has not returned this value");
        return;
    case HBF_COMMAND_LAUNCH:
        fail(HBF_UNSUPPORTED, "this device runs no kernels");
    default:
        fail(HBF_INVALID, "unknown command " + std::to_string(command.kind));
    }
}

// Flush and invalidate need nothing where the CPU's caches are coherent. Waits and barriers are over by the time submit is
// called: every earlier value has run, and commands run in the batch's order.
void Queue::run(const hbf_command &command) {
    if (command.kind == HBF_COMMAND_COPY) {
        const hbf_copy &c = command.u.copy;
        std::memcpy(at(c.dst, c.dst_offset), at(c.src, c.src_offset), c.size);
    } else if (command.kind == HBF_COMMAND_FILL) {
        const hbf_fill &f = command.u.fill;
        std::byte pattern[8], *const to = at(f.dst, f.dst_offset);
        std::memcpy(pattern, &f.pattern, sizeof pattern);
        for (uint64_t i = 0; i < f.size; ++i) to[i] = pattern[i % f.pattern_size];
    }
}

std::byte *Queue::pin(hbf_region region, uint64_t offset, uint64_t size) {
    const Block *block = regions_.pin(region);
    if (!block) fail(HBF_INVALID, "stale region handle", region);
    pinned_[pins_++] = region;
    if (size == 0 || offset > block->size || size > block->size - offset)
        fail(HBF_INVALID, "size is 0, or the range leaves the region", region, offset);
    return block->address + offset;
}

std::byte *Queue::at(hbf_region region, uint64_t offset) {
    return regions_.find(region)->address + offset;
}

void Queue::unpin_all() noexcept {
    while (pins_ > 0) regions_.unpin(pinned_[--pins_]);
}

} // namespace plugin
