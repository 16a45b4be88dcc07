// SPDX-License-Identifier: Apache-2.0
// One variant of every kernel, compiled for one instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "copy.hpp"
#include "kv_blocks.hpp"
#include "pattern.hpp"

namespace hbf::kernels {

struct Operations {
    const char *target;
    uint32_t (*crc32c)(const void *data, size_t size, uint32_t seed) noexcept;
    void (*copy)(void *dst, const void *src, size_t size, Stores stores) noexcept;
    void (*copy_crc32c)(void *dst, const void *src, size_t size, Stores stores, uint32_t *crc) noexcept;
    void (*fill)(void *dst, size_t size, uint64_t pattern, unsigned pattern_size, Stores stores) noexcept;
    uint64_t (*read_all)(const void *src, size_t size) noexcept;
    void (*pattern_fill)(void *dst, size_t size, const PatternKey &key, uint64_t address) noexcept;
    PatternResult (*pattern_verify)(const void *src, size_t size, const PatternKey &key, uint64_t address) noexcept;
    void (*kv_gather)(const KvBlocks &layout, const void *pool, const uint32_t *list, void *packed, uint32_t *outcome,
                      Stores stores) noexcept;
    void (*kv_scatter)(const KvBlocks &layout, void *pool, const uint32_t *list, const void *packed, uint32_t *outcome,
                       Stores stores) noexcept;
};

} // namespace hbf::kernels
