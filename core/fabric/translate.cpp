// SPDX-License-Identifier: Apache-2.0
// From Ops to the plugin's commands. Hardware domains cost nothing here; around Ops that touch software domains go flushes,
// a barrier before and a barrier and invalidates after.
#include "core/fabric/op.hpp"

namespace hbf::fabric {
namespace {

bool is_wait(const Op &op) {
    return op.kind == Command::Kind::wait || op.kind == Command::Kind::barrier;
}

uint32_t coherence_commands(const Op &op) {
    return 2u * op.dst_software + op.src_software;
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

void work(hbf_command &out, const Op &op, uint32_t *crc, const std::byte *arguments) {
    out.flags = 0;
    switch (op.kind) {
    case Command::Kind::copy:
        out.kind = HBF_COMMAND_COPY;
        out.flags = op.engine_crc ? HBF_COPY_CRC32C : 0;
        out.u.copy = {op.dst_handle, op.dst_offset, op.src_handle,
                      op.src_offset, op.size,       op.engine_crc ? crc + op.crc_begin : nullptr};
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
                        nullptr,
                        0,
                        arguments + op.arguments_begin,
                        op.arguments_size,
                        {op.groups[0], op.groups[1], op.groups[2]},
                        {op.group_size[0], op.group_size[1], op.group_size[2]}};
        return;
    case Command::Kind::wait:
    case Command::Kind::barrier:
        return;
    }
}

} // namespace

Translated translate(const Op *ops, uint32_t count, const WaitTarget *waits, uint32_t *crc, const std::byte *arguments,
                     hbf_command *out, uint32_t capacity) {
    uint32_t written = 0, taken = 0;
    while (taken < count) {
        if (is_wait(ops[taken])) {
            if (written == capacity) break;
            const Op &op = ops[taken++];
            wait(out[written++], op.kind == Command::Kind::wait ? waits[op.dep] : WaitTarget{nullptr, 0});
            continue;
        }
        // A run: Ops up to the next wait, unordered among themselves, as many as fit with what they need around them.
        uint32_t end = taken, coherence = 0;
        while (end < count && !is_wait(ops[end])) {
            const uint32_t more = coherence + coherence_commands(ops[end]);
            if (written + (end - taken + 1) + more + (more != 0 ? commands_per_run : 0) > capacity) break;
            coherence = more;
            ++end;
        }
        if (end == taken) break;
        bool invalidates = false;
        if (coherence != 0) {
            for (uint32_t i = taken; i < end; ++i) {
                const Op &op = ops[i];
                if (op.src_software) range(out[written++], HBF_COMMAND_FLUSH, op.src_handle, op.src_offset, op.size);
                // Dirty lines over the destination would be written back over the new bytes.
                if (op.dst_software) range(out[written++], HBF_COMMAND_FLUSH, op.dst_handle, op.dst_offset, op.size);
                invalidates |= op.dst_software;
            }
            wait(out[written++], {nullptr, 0});
        }
        for (uint32_t i = taken; i < end; ++i) work(out[written++], ops[i], crc, arguments);
        if (invalidates) {
            wait(out[written++], {nullptr, 0});
            for (uint32_t i = taken; i < end; ++i)
                if (ops[i].dst_software)
                    range(out[written++], HBF_COMMAND_INVALIDATE, ops[i].dst_handle, ops[i].dst_offset, ops[i].size);
        }
        taken = end;
    }
    return {written, taken};
}

} // namespace hbf::fabric
