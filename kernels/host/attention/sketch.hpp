// SPDX-License-Identifier: Apache-2.0
// Sketches of keys on the host: made here, scored as kernels/device/sketch_score.h does, in vectors. That header says what
// the results mean, sketch_layout.h how memory is laid out. On this thread; nothing is allocated.
//
// Results are the device kernel's bit for bit where attention_is_fused() (attention.hpp); the bound e covers the others too.
#pragma once

#include <cstdint>

#include "kernels/device/sketch_score.h"

namespace hbf::kernels {

// What is wrong with a shape, nullptr if nothing. Functions below do nothing if there is something.
const char *sketch_refused(const device::sketch_shape &shape) noexcept;

// Sketch of a block's keys. `block` is laid out as attention_layout.h says, of its values nothing is read; `sketch` has
// device::sketch_block_size bytes, all written. False if the shape is refused or has no room for so many tokens.
bool sketch_make(const device::sketch_shape &shape, const void *block, uint32_t tokens, void *sketch) noexcept;

struct SketchBuffers {
    const uint8_t *sketches;
    const device::kv_block *blocks;
    const float *query;
    float *result; // m, l, e: 3 * block_count * query_heads
};

void sketch_score(const SketchBuffers &buffers, const device::sketch_score_arguments &arguments) noexcept;

} // namespace hbf::kernels
