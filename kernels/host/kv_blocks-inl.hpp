// SPDX-License-Identifier: Apache-2.0
// KV blocks gathered and scattered, per instruction set.
#if defined(HBF_KERNELS_KV_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HBF_KERNELS_KV_BLOCKS_INL
#undef HBF_KERNELS_KV_BLOCKS_INL
#else
#define HBF_KERNELS_KV_BLOCKS_INL
#endif

#include <cstring>

#include "copy-inl.hpp"
#include "kv_blocks.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {

// The pieces of a list in order, without those of refused blocks.
struct KvPieces {
    const KvBlocks &layout;
    const uint32_t *list;
    uint64_t entry = 0;
    uint32_t part = 0;

    HWY_INLINE bool settle() { // on a piece that exists; false behind the last
        while (entry < layout.count && (list[entry] >= layout.blocks || part >= layout.parts)) ++entry, part = 0;
        return entry < layout.count;
    }
    HWY_INLINE void advance() { ++part; }
    HWY_INLINE uint64_t in_pool() const { return device::kv_piece(layout, list[entry], part); }
    HWY_INLINE uint64_t packed() const { return (entry * layout.parts + part) * layout.piece_size; }
};

// Fetches what will be read, a fixed number of bytes before it is, across the ends of pieces: where they lie in memory the
// CPU cannot guess.
template <bool to_pool>
struct KvAhead {
    KvPieces pieces;
    const uint8_t *base;
    const uint8_t *piece = nullptr; // nullptr: all is fetched
    uint64_t at = 0;
    int64_t due = 0; // bytes to fetch; below 0: fetched already

    HWY_INLINE void begin() {
        open();
        next(prefetch_ahead);
    }
    HWY_INLINE void next(uint64_t bytes) { // that have been read since
        for (due += bytes; due > 0 && piece; at += line_size) {
            if (at >= pieces.layout.piece_size) {
                pieces.advance(), open();
                if (!piece) return;
            }
            __builtin_prefetch(piece + at);
            const uint64_t left = pieces.layout.piece_size - at;
            due -= static_cast<int64_t>(left < line_size ? left : line_size);
        }
    }

private:
    HWY_INLINE void open() {
        piece = pieces.settle() ? base + (to_pool ? pieces.packed() : pieces.in_pool()) : nullptr;
        at = 0;
    }
};

template <bool to_pool>
HWY_ATTR void kv_move(const KvBlocks &layout, uint8_t *pool, const uint32_t *list, uint8_t *packed, uint32_t *outcome,
                      Stores stores) {
    for (uint64_t i = 0; i < layout.count; ++i) outcome[i] = list[i] < layout.blocks ? HBF_KV_MOVED : HBF_KV_REFUSED;
    KvPieces pieces{layout, list};
    KvAhead<to_pool> ahead{{layout, list}, to_pool ? packed : pool};
    if (layout.piece_size == 0 || layout.parts == 0) return;
    if (stores == Stores::streaming) ahead.begin();
    for (; pieces.settle(); pieces.advance()) {
        uint8_t *const far = pool + pieces.in_pool(), *const near = packed + pieces.packed();
        uint8_t *const dst = to_pool ? far : near;
        const uint8_t *const src = to_pool ? near : far;
        if (stores == Stores::regular) {
            memcpy(dst, src, layout.piece_size);
            continue;
        }
        uint64_t done = 0;
        stream_bytes(dst, src, layout.piece_size,
                     [&](const uint8_t *) HWY_ATTR { ahead.next(copy_group), done += copy_group; });
        ahead.next(layout.piece_size - done);
    }
    if (stores == Stores::streaming) streaming_fence();
}

HWY_ATTR void kv_gather(const KvBlocks &layout, const void *pool, const uint32_t *list, void *packed, uint32_t *outcome,
                        Stores stores) noexcept {
    kv_move<false>(layout, static_cast<uint8_t *>(const_cast<void *>(pool)), list, static_cast<uint8_t *>(packed), outcome,
                   stores);
}

HWY_ATTR void kv_scatter(const KvBlocks &layout, void *pool, const uint32_t *list, const void *packed, uint32_t *outcome,
                         Stores stores) noexcept {
    kv_move<true>(layout, static_cast<uint8_t *>(pool), list, static_cast<uint8_t *>(const_cast<void *>(packed)), outcome,
                  stores);
}

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#endif
