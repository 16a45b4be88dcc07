// SPDX-License-Identifier: Apache-2.0
// A place: somewhere KV blocks lie, and who attends them there. Memory of the CPU (memory_place.hpp), a device with a kernel
// for it (device_place.hpp), or something whose bytes have to be fetched first (source_place.hpp).
//
// Whoever does it, a block's partial result has the same bits: kernels/device/attention.h says which. That is so on
// processors that multiply and add with one rounding (kernels::attention_is_fused()); the others agree with themselves.
#pragma once

#include <cstdint>
#include <span>

#include "hbf/status.hpp"
#include "kernels/device/attention_layout.h"

namespace hbf::kv {

using kernels::device::kv_block; // bytes from the start of its place, and tokens
using kernels::device::kv_shape;

// One thread at a time. Once warmed, nothing is allocated.
class AttendPlace {
public:
    virtual ~AttendPlace() = default;

    // Blocks that begin() will soon name, in its order: the next layer's, say. A hint: what goes wrong is next()'s to
    // report.
    virtual void prefetch(const kv_shape &shape, std::span<const kv_block> blocks) { (void)shape, (void)blocks; }

    // The blocks that next() will be asked for, and in this order. `query` has query_heads * head_dim numbers. Both stay the
    // caller's, and as they are, until the last block has been asked for or abandon() is called. Code::invalid: a block does
    // not fit into the place, with its offset.
    virtual Result<> begin(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) = 0;

    // Of the next `count` of them m and l (2 * query_heads numbers a block) and o (query_heads * head_dim a block).
    virtual Result<> next(uint32_t count, float *state, float *output) = 0;

    // The rest will not be asked for. Nothing of it is in flight afterwards.
    virtual void abandon() noexcept = 0;
};

// Code::invalid if a shape is refused, or one of the blocks does not lie within `size` bytes.
Result<> check_blocks(const kv_shape &shape, std::span<const kv_block> blocks, uint64_t size);

} // namespace hbf::kv
