// SPDX-License-Identifier: Apache-2.0
// Builders of queue commands.
#include "conformance/suite/bytes.hpp"

namespace hbf::conformance {
namespace {

hbf_command command(hbf_command_kind kind) {
    hbf_command out{};
    out.kind = kind;
    return out;
}

hbf_command range_command(hbf_command_kind kind, hbf_region region, uint64_t offset, uint64_t size) {
    hbf_command out = command(kind);
    out.u.range = {region, offset, size};
    return out;
}

} // namespace

hbf_command copy_command(hbf_region dst, uint64_t dst_offset, hbf_region src, uint64_t src_offset, uint64_t size,
                         uint32_t *crc) {
    hbf_command out = command(HBF_COMMAND_COPY);
    out.u.copy = {dst, dst_offset, src, src_offset, size, crc};
    if (crc) out.flags = HBF_COPY_CRC32C;
    return out;
}

hbf_command fill_command(hbf_region dst, uint64_t offset, uint64_t size, uint64_t pattern, uint32_t pattern_size) {
    hbf_command out = command(HBF_COMMAND_FILL);
    out.u.fill = {dst, offset, size, pattern, pattern_size, 0};
    return out;
}

hbf_command flush_command(hbf_region region, uint64_t offset, uint64_t size) {
    return range_command(HBF_COMMAND_FLUSH, region, offset, size);
}

hbf_command invalidate_command(hbf_region region, uint64_t offset, uint64_t size) {
    return range_command(HBF_COMMAND_INVALIDATE, region, offset, size);
}

hbf_command wait_command(hbf_queue *queue, uint64_t value) {
    hbf_command out = command(HBF_COMMAND_WAIT);
    out.u.wait = {queue, value};
    return out;
}

hbf_command barrier_command() {
    return wait_command(nullptr, 0);
}

} // namespace hbf::conformance
