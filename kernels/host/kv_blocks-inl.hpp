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
// CPU cannot guess. Twice as early as in one long copy, whose later lines the CPU guesses itself. The next piece's first
// line is fetched one piece early: that is for its page's address, which else everybody waits for. Measured for pieces of 8
// to 64 KiB.
inline constexpr size_t piece_prefetch = 2 * prefetch_ahead;

template <bool to_pool>
struct KvAhead {
    KvPieces pieces; // behind the one that is fetched now
    const uint8_t *base;
    const uint8_t *piece = nullptr, *after = nullptr; // being fetched, and the next; nullptr: there is none
    uint64_t at = 0;                                  // bytes of `piece` that are fetched
    uint64_t fetched = 0;                             // bytes of whole lines, of all pieces

    HWY_INLINE void begin() {
        after = settled();
        open();
        keep_ahead_of(0);
    }
    HWY_INLINE void keep_ahead_of(uint64_t read) {
        while (piece && fetched < read + piece_prefetch) next();
    }
    HWY_INLINE void next() { // a group of lines
        fetched += copy_group;
        if (HWY_LIKELY(at + copy_group <= pieces.layout.piece_size)) {
            if (!piece) return;
            for (size_t i = 0; i < copy_group; i += line_size) __builtin_prefetch(piece + at + i);
            at += copy_group;
            return;
        }
        for (size_t i = 0; i < copy_group && piece; i += line_size) {
            if (at >= pieces.layout.piece_size) {
                open();
                if (!piece) return;
            }
            __builtin_prefetch(piece + at);
            at += line_size;
        }
    }

private:
    HWY_INLINE const uint8_t *settled() {
        return pieces.settle() ? base + (to_pool ? pieces.packed() : pieces.in_pool()) : nullptr;
    }
    HWY_INLINE void open() {
        piece = after;
        at = 0;
        if (!piece) return;
        pieces.advance();
        after = settled();
        if (after) __builtin_prefetch(after);
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
    uint64_t read = 0; // bytes of whole lines
    for (; pieces.settle(); pieces.advance()) {
        uint8_t *const far = pool + pieces.in_pool(), *const near = packed + pieces.packed();
        uint8_t *const dst = to_pool ? far : near;
        const uint8_t *const src = to_pool ? near : far;
        if (stores == Stores::regular) {
            memcpy(dst, src, layout.piece_size);
            continue;
        }
        stream_bytes(dst, src, layout.piece_size, [&](const uint8_t *) HWY_ATTR { ahead.next(); });
        read += (layout.piece_size + line_size - 1) / line_size * line_size;
        ahead.keep_ahead_of(read);
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
