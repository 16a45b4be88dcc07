// SPDX-License-Identifier: Apache-2.0
#include "hbf/batch.hpp"

namespace hbf {

void Batch::clear() {
    commands_.clear();
    arguments_.clear();
    buffers_.clear();
}

Batch &Batch::copy(Region dst, uint64_t dst_offset, Region src, uint64_t src_offset, uint64_t size, Integrity integrity) {
    Command &command = commands_.emplace_back();
    command.kind = Command::Kind::copy;
    command.integrity = integrity;
    command.dst = dst;
    command.src = src;
    command.dst_offset = dst_offset;
    command.src_offset = src_offset;
    command.size = size;
    return *this;
}

Batch &Batch::fill(Region dst, uint64_t offset, uint64_t size, uint64_t pattern, uint32_t pattern_size) {
    Command &command = commands_.emplace_back();
    command.kind = Command::Kind::fill;
    command.dst = dst;
    command.dst_offset = offset;
    command.size = size;
    command.pattern = pattern;
    command.pattern_size = pattern_size;
    return *this;
}

Batch &Batch::flush(Region region, uint64_t offset, uint64_t size) {
    Command &command = commands_.emplace_back();
    command.kind = Command::Kind::flush;
    command.dst = region;
    command.dst_offset = offset;
    command.size = size;
    return *this;
}

Batch &Batch::invalidate(Region region, uint64_t offset, uint64_t size) {
    flush(region, offset, size);
    commands_.back().kind = Command::Kind::invalidate;
    return *this;
}

Batch &Batch::launch(const Kernel &kernel, std::span<const KernelBuffer> buffers, std::span<const std::byte> arguments,
                     const uint32_t (&groups)[3], const uint32_t (&group_size)[3]) {
    // Arguments are read as 64-bit words by most kernels: each set starts on one.
    const size_t begin = (arguments_.size() + 7) / 8 * 8;
    arguments_.resize(begin);
    arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
    Command &command = commands_.emplace_back();
    command.kind = Command::Kind::launch;
    command.kernel = kernel;
    command.buffers_begin = static_cast<uint32_t>(buffers_.size());
    command.buffer_count = static_cast<uint32_t>(buffers.size());
    buffers_.insert(buffers_.end(), buffers.begin(), buffers.end());
    command.arguments_begin = static_cast<uint32_t>(begin);
    command.arguments_size = static_cast<uint32_t>(arguments.size());
    for (int i = 0; i < 3; ++i) {
        command.groups[i] = groups[i];
        command.group_size[i] = group_size[i];
    }
    return *this;
}

Batch &Batch::launch(const Kernel &kernel, std::span<const KernelBuffer> buffers, std::span<const std::byte> arguments,
                     uint32_t groups, uint32_t group_size) {
    return launch(kernel, buffers, arguments, {groups, 1, 1}, {group_size, 1, 1});
}

Batch &Batch::wait(Point point) {
    Command &command = commands_.emplace_back();
    command.kind = Command::Kind::wait;
    command.point = point;
    return *this;
}

Batch &Batch::barrier() {
    commands_.emplace_back().kind = Command::Kind::barrier;
    return *this;
}

} // namespace hbf
