// SPDX-License-Identifier: Apache-2.0
// A cache line in registers. Included once per instruction set (no include guard of the usual kind).
#if defined(HBF_KERNELS_LINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HBF_KERNELS_LINE_INL
#undef HBF_KERNELS_LINE_INL
#else
#define HBF_KERNELS_LINE_INL
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "copy.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Quads = hn::ScalableTag<uint64_t>; // not bytes: the scalar fallback then still moves 8 at a time
using Vector = hn::Vec<Quads>;
inline constexpr size_t line_size = 64;
inline constexpr size_t vector_size = HWY_LANES(uint64_t) * sizeof(uint64_t);
inline constexpr size_t line_vectors = line_size / vector_size;

struct Line {
    Vector part[line_vectors];
};

HWY_INLINE HWY_ATTR Line load_line(const uint8_t *src) {
    Line line;
    for (size_t i = 0; i < line_vectors; ++i)
        line.part[i] = hn::LoadU(Quads(), reinterpret_cast<const uint64_t *>(src + i * vector_size));
    return line;
}

// dst is aligned to the line for streaming stores, else anywhere.
template <Stores S>
HWY_INLINE HWY_ATTR void store_line(const Line &line, uint8_t *dst) {
    if constexpr (S == Stores::streaming) {
#if HWY_ARCH_ARM_A64
        for (size_t i = 0; i < line_vectors; i += 2)
            asm volatile("stnp %q0, %q1, [%2]"
                         :
                         : "w"(line.part[i].raw), "w"(line.part[i + 1].raw), "r"(dst + i * vector_size)
                         : "memory");
#else
        for (size_t i = 0; i < line_vectors; ++i)
            hn::Stream(line.part[i], Quads(), reinterpret_cast<uint64_t *>(dst + i * vector_size));
#endif
    } else {
        for (size_t i = 0; i < line_vectors; ++i)
            hn::StoreU(line.part[i], Quads(), reinterpret_cast<uint64_t *>(dst + i * vector_size));
    }
}

// Makes streaming stores visible before whatever this thread stores next.
HWY_INLINE HWY_ATTR void streaming_fence() {
#if HWY_ARCH_X86
    hwy::FlushStream();
#else
    asm volatile("dmb ish" ::: "memory");
#endif
}

inline constexpr size_t prefetch_ahead = 4096; // bytes; measured: 2 KiB is too near, 8 KiB gains nothing

// Fetches the line that far ahead of src; beyond `last`, the last byte that will be read, nothing new.
HWY_INLINE void prefetch(const uint8_t *src, const uint8_t *last) {
    __builtin_prefetch(last - src > static_cast<ptrdiff_t>(prefetch_ahead) ? src + prefetch_ahead : last);
}

HWY_INLINE size_t to_line(const void *address, size_t size) { // bytes up to the next line, at most size
    const size_t head = (line_size - (reinterpret_cast<uintptr_t>(address) & (line_size - 1))) & (line_size - 1);
    return head < size ? head : size;
}

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#endif
