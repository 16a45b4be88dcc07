// SPDX-License-Identifier: Apache-2.0
// Gather and scatter of KV blocks, with the meaning and the layout of the device kernels kv_gather/1 and kv_scatter/1.
#pragma once

#include "kernels/device/kv_blocks.h"
#include "kernels/host/copy.hpp"

namespace hbf::kernels {

using KvBlocks = device::kv_blocks;

// Gathers layout.count listed blocks from `pool` into `packed`; outcome[i] becomes HBF_KV_MOVED, or HBF_KV_REFUSED where the
// pool has no block list[i]: its packed pieces are left as they are.
void kv_gather(const KvBlocks &layout, const void *pool, const uint32_t *list, void *packed, uint32_t *outcome,
               Stores stores) noexcept;

// The same way back. A block that is listed twice ends with the bytes of its last entry.
void kv_scatter(const KvBlocks &layout, void *pool, const uint32_t *list, const void *packed, uint32_t *outcome,
                Stores stores) noexcept;

} // namespace hbf::kernels
