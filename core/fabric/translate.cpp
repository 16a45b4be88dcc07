// SPDX-License-Identifier: Apache-2.0
// From Ops to the plugin's commands. Hardware domains cost nothing here; around Ops that touch software domains go flushes,
// a barrier before and a barrier and invalidates after.
#include "core/fabric/op.hpp"

namespace hbf::fabric {
namespace {

bool is_wait(const Op &op) {
    return op.kind == Command::Kind::wait || op.kind == Command::Kind::barrier;
}

void range(hbf_command &out, hbf_command_kind kind, hbf_region region, uint64_t offset, uint64_t size) {
    out.kind = kind;
    out.flags = 0;
    out.u.range = {region, offset, size};
}

void wait(hbf_command &out, const WaitTarget &target) {
    out.kind = HBF_COMMAND_WAIT;
    out.flags = 0;
    out.u.wait = {target.queue, target.value};
}

void work(hbf_command &out, const Op &op, OpData &data) {
    out.flags = 0;
    switch (op.kind) {
    case Command::Kind::copy:
        out.kind = HBF_COMMAND_COPY;
        out.flags = op.engine_crc ? HBF_COPY_CRC32C : 0;
        out.u.copy = {op.dst_handle, op.dst_offset, op.src_handle,
                      op.src_offset, op.size,       op.engine_crc ? data.crc.data() + op.crc_begin : nullptr};
        return;
    case Command::Kind::fill:
        out.kind = HBF_COMMAND_FILL;
        out.u.fill = {op.dst_handle, op.dst_offset, op.size, op.pattern, op.pattern_size, 0};
        return;
    case Command::Kind::flush:
        return range(out, HBF_COMMAND_FLUSH, op.dst_handle, op.dst_offset, op.size);
    case Command::Kind::invalidate:
        return range(out, HBF_COMMAND_INVALIDATE, op.dst_handle, op.dst_offset, op.size);
    case Command::Kind::launch:
        out.kind = HBF_COMMAND_LAUNCH;
        out.u.launch = {op.pattern,
                        op.buffer_count == 0 ? nullptr : data.buffers.data() + op.buffers_begin,
                        op.buffer_count,
                        op.arguments_size == 0 ? nullptr : data.arguments.data() + op.arguments_begin,
                        op.arguments_size,
                        {op.groups[0], op.groups[1], op.groups[2]},
                        {op.group_size[0], op.group_size[1], op.group_size[2]}};
        return;
    case Command::Kind::wait:
    case Command::Kind::barrier:
        return;
    }
}

// Every range of the Op that lies in a software domain, and whether the Op writes it.
template <class Visit>
void each_software_range(const Op &op, const OpData &data, Visit &&visit) {
    if (op.src_software) visit(op.src_handle, op.src_offset, op.size, false);
    if (op.dst_software) visit(op.dst_handle, op.dst_offset, op.size, true);
    for (uint32_t i = op.buffers_begin; i < op.buffers_begin + op.buffer_count; ++i) {
        const hbf_kernel_buffer &buffer = data.buffers[i];
        if (data.slots[i]->software)
            visit(buffer.region, buffer.offset, buffer.size, (buffer.access & HBF_KERNEL_WRITES) != 0);
    }
}

} // namespace

void OpData::clear() noexcept {
    crc.clear();
    arguments.clear();
    buffers.clear();
    slots.clear();
    waits.clear();
}

void OpData::unpin() noexcept {
    for (RegionSlot *slot : slots) slot->unpin();
    slots.clear();
}

uint32_t coherence_commands(const Op &op, const OpData &data) noexcept {
    uint32_t commands = 0;
    each_software_range(op, data, [&](hbf_region, uint64_t, uint64_t, bool written) { commands += written ? 2 : 1; });
    return commands;
}

Translated translate(const Op *ops, uint32_t count, OpData &data, hbf_command *out, uint32_t capacity) {
    uint32_t written = 0, taken = 0;
    while (taken < count) {
        if (is_wait(ops[taken])) {
            if (written == capacity) break;
            const Op &op = ops[taken++];
            wait(out[written++], op.kind == Command::Kind::wait ? data.waits[op.dep] : WaitTarget{nullptr, 0});
            continue;
        }
        // A run: Ops up to the next wait, unordered among themselves, as many as fit with what they need around them.
        uint32_t end = taken, coherence = 0;
        while (end < count && !is_wait(ops[end])) {
            const uint32_t more = coherence + ops[end].coherence;
            if (written + (end - taken + 1) + more + (more != 0 ? commands_per_run : 0) > capacity) break;
            coherence = more;
            ++end;
        }
        if (end == taken) break;
        bool invalidates = false;
        if (coherence != 0) {
            // Dirty lines over what is written would be written back over the new bytes: they are flushed as well.
            for (uint32_t i = taken; i < end; ++i)
                each_software_range(ops[i], data, [&](hbf_region region, uint64_t offset, uint64_t size, bool is_written) {
                    range(out[written++], HBF_COMMAND_FLUSH, region, offset, size);
                    invalidates |= is_written;
                });
            wait(out[written++], {nullptr, 0});
        }
        for (uint32_t i = taken; i < end; ++i) work(out[written++], ops[i], data);
        if (invalidates) {
            wait(out[written++], {nullptr, 0});
            for (uint32_t i = taken; i < end; ++i)
                each_software_range(ops[i], data, [&](hbf_region region, uint64_t offset, uint64_t size, bool is_written) {
                    if (is_written) range(out[written++], HBF_COMMAND_INVALIDATE, region, offset, size);
                });
        }
        taken = end;
    }
    return {written, taken};
}

} // namespace hbf::fabric
