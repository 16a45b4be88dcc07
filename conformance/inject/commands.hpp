// SPDX-License-Identifier: Apache-2.0
// Reading and rewriting the commands of a batch.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "conformance/inject/layer.hpp"
#include "hbf/sdk/shell/sized.hpp"

namespace hbf::inject {

using sdk::shell::usable;

// Whether the commands may be looked at. If not, the plugin will refuse the batch: pass it on.
inline bool readable(const Queue &queue, const hbf_batch *batch) {
    return usable(batch, HBF_BATCH_MIN_SIZE) && batch->commands && batch->command_stride >= HBF_COMMAND_SIZE &&
           batch->command_stride % 8 == 0 && batch->command_count <= queue.most_commands;
}

inline const hbf_command &command_at(const hbf_batch &batch, uint64_t index) {
    return *reinterpret_cast<const hbf_command *>(reinterpret_cast<const std::byte *>(batch.commands) +
                                                  index * batch.command_stride);
}

// A copy of readable commands, side by side.
inline void copy_commands(const hbf_batch &batch, std::vector<hbf_command> &out) {
    out.resize(batch.command_count);
    for (uint64_t i = 0; i < batch.command_count; ++i) out[i] = command_at(batch, i);
}

inline hbf_batch batch_of(const std::vector<hbf_command> &commands) {
    hbf_batch batch{};
    batch.struct_size = sizeof batch;
    batch.command_stride = sizeof(hbf_command);
    batch.commands = commands.data();
    batch.command_count = commands.size();
    return batch;
}

inline bool is_data(const hbf_command &command) {
    return command.kind == HBF_COMMAND_COPY || command.kind == HBF_COMMAND_FILL;
}

// What a command writes.
struct Span {
    hbf_region region = 0;
    uint64_t offset = 0, size = 0;
};
inline Span destination(const hbf_command &command) {
    if (command.kind == HBF_COMMAND_COPY) return {command.u.copy.dst, command.u.copy.dst_offset, command.u.copy.size};
    if (command.kind == HBF_COMMAND_FILL) return {command.u.fill.dst, command.u.fill.dst_offset, command.u.fill.size};
    return {};
}

} // namespace hbf::inject
