// SPDX-License-Identifier: Apache-2.0
// Plain copies, fills and reads, per instruction set.
#if defined(HBF_KERNELS_COPY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HBF_KERNELS_COPY_INL
#undef HBF_KERNELS_COPY_INL
#else
#define HBF_KERNELS_COPY_INL
#endif

#include <cstring>

#include "line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {

// Streaming stores without the fence. Nothing is prefetched: beside them that costs an eighth (measured on Zen 3).
HWY_INLINE HWY_ATTR void stream_bytes(uint8_t *dst, const uint8_t *src, size_t size) {
    if (const size_t head = to_line(dst, size)) {
        memcpy(dst, src, head);
        dst += head, src += head, size -= head;
    }
    size_t at = 0;
    for (; at + 4 * line_size <= size; at += 4 * line_size) {
        const Line line[4] = {load_line(src + at), load_line(src + at + line_size), load_line(src + at + 2 * line_size),
                              load_line(src + at + 3 * line_size)};
        for (size_t i = 0; i < 4; ++i) store_line<Stores::streaming>(line[i], dst + at + i * line_size);
    }
    for (; at + line_size <= size; at += line_size) store_line<Stores::streaming>(load_line(src + at), dst + at);
    if (at < size) memcpy(dst + at, src + at, size - at);
}

HWY_ATTR void copy(void *dst_address, const void *src_address, size_t size, Stores stores) noexcept {
    if (stores == Stores::regular) {
        if (size) memcpy(dst_address, src_address, size);
        return;
    }
    stream_bytes(static_cast<uint8_t *>(dst_address), static_cast<const uint8_t *>(src_address), size);
    streaming_fence();
}

template <Stores S>
HWY_ATTR void fill_lines(uint8_t *dst, size_t size, uint64_t pattern) {
    const auto value = hn::Set(Quads(), pattern);
    Line line;
    for (size_t i = 0; i < line_vectors; ++i) line.part[i] = value;
    for (size_t at = 0; at + line_size <= size; at += line_size) store_line<S>(line, dst + at);
}

HWY_ATTR void fill(void *dst_address, size_t size, uint64_t pattern, unsigned pattern_size, Stores stores) noexcept {
    auto *dst = static_cast<uint8_t *>(dst_address);
    for (unsigned width = pattern_size; width < 8; width *= 2) { // widened to 8 bytes
        pattern &= (uint64_t{1} << (8 * width)) - 1;
        pattern |= pattern << (8 * width);
    }
    const auto bytes = [&](size_t from, size_t to) { // a byte at a time: the odd ends
        for (size_t i = from; i < to; ++i) dst[i] = static_cast<uint8_t>(pattern >> (8 * (i % 8)));
    };
    const size_t head = to_line(dst, size), lines = (size - head) / line_size * line_size;
    bytes(0, head);
    const unsigned turn = 8 * (head % 8);
    const uint64_t turned = turn ? (pattern >> turn) | (pattern << (64 - turn)) : pattern;
    if (stores == Stores::streaming) {
        fill_lines<Stores::streaming>(dst + head, lines, turned);
        bytes(head + lines, size);
        streaming_fence();
    } else {
        fill_lines<Stores::regular>(dst + head, lines, turned);
        bytes(head + lines, size);
    }
}

HWY_ATTR uint64_t read_all(const void *src_address, size_t size) noexcept {
    const auto *src = static_cast<const uint8_t *>(src_address);
    auto sum = hn::Zero(Quads());
    const uint8_t *const last = src + size - 1;
    size_t at = 0;
    for (; at + 4 * line_size <= size; at += 4 * line_size) {
        for (size_t i = 0; i < 4; ++i) prefetch(src + at + i * line_size, last);
        for (size_t i = 0; i < 4; ++i) {
            const Line line = load_line(src + at + i * line_size);
            for (size_t part = 0; part < line_vectors; ++part) sum = hn::Xor(sum, line.part[part]);
        }
    }
    alignas(64) uint64_t lanes[line_size / 8] = {};
    hn::Store(sum, Quads(), lanes);
    uint64_t result = 0;
    for (const uint64_t lane : lanes) result ^= lane;
    for (; at < size; ++at) result ^= uint64_t{src[at]} << (8 * (at % 8));
    return result;
}

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#endif
