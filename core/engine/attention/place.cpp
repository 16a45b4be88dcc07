// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/place.hpp"

#include <fmt/format.h>

#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {

Result<> check_blocks(const kv_shape &shape, std::span<const kv_block> blocks, uint64_t size) {
    if (const char *reason = kernels::attention_refused(shape)) return fail(Code::invalid, reason);
    const uint64_t bytes = kernels::device::kv_block_size(shape);
    for (const kv_block &block : blocks)
        if (!kernels::device::kv_block_fits(block.offset, block.tokens, shape, bytes, size))
            return fail(Code::invalid,
                        fmt::format("block at {:#x} with {} tokens: its place has {} bytes, a block {} bytes and {} tokens, "
                                    "and begins at a multiple of 8",
                                    block.offset, block.tokens, size, bytes, shape.block_tokens),
                        block.offset);
    return {};
}

} // namespace hbf::kv
