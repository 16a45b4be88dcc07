// SPDX-License-Identifier: Apache-2.0
// CRC-32C, alone or of the bytes a copy moves, per instruction set.
#if defined(HBF_KERNELS_CRC32C_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HBF_KERNELS_CRC32C_INL
#undef HBF_KERNELS_CRC32C_INL
#else
#define HBF_KERNELS_CRC32C_INL
#endif

#include <cstring>

#include "gf2.hpp"
#include "line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE uint64_t load_word(const uint8_t *src) {
    uint64_t word;
    memcpy(&word, src, sizeof word);
    return word;
}

// By tables: for CPUs without the instruction.
struct TableCrc {
    static constexpr auto tables = gf2::make_tables();
    static HWY_INLINE uint32_t word(uint32_t crc, uint64_t data) {
        data ^= crc;
        uint32_t result = 0;
        for (size_t byte = 0; byte < 8; ++byte) result ^= tables[7 - byte][(data >> (8 * byte)) & 255];
        return result;
    }
    static HWY_INLINE uint32_t byte(uint32_t crc, uint8_t data) { return (crc >> 8) ^ tables[0][(crc ^ data) & 255]; }
    template <size_t Size>
    static HWY_INLINE uint32_t shift(uint32_t crc) { // appends Size zero bytes
        constexpr uint32_t multiplier = gf2::x_power(8 * Size);
        return gf2::multiply(crc, multiplier);
    }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
struct InstructionCrc {
    static HWY_INLINE HWY_ATTR uint32_t word(uint32_t crc, uint64_t data) {
        return static_cast<uint32_t>(_mm_crc32_u64(crc, data));
    }
    static HWY_INLINE HWY_ATTR uint32_t byte(uint32_t crc, uint8_t data) { return _mm_crc32_u8(crc, data); }
    template <size_t Size>
    static HWY_INLINE HWY_ATTR uint32_t shift(uint32_t crc) {
        constexpr uint32_t multiplier = gf2::x_power(8 * Size - 33);
        const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi32_si128(static_cast<int>(crc)),
                                                     _mm_cvtsi32_si128(static_cast<int>(multiplier)), 0);
        return static_cast<uint32_t>(_mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product))));
    }
};
#elif HWY_ARCH_ARM_A64
struct InstructionCrc {
    static HWY_INLINE uint32_t word(uint32_t crc, uint64_t data) {
        asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(data));
        return crc;
    }
    static HWY_INLINE uint32_t byte(uint32_t crc, uint8_t data) {
        asm(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(static_cast<uint32_t>(data)));
        return crc;
    }
    template <size_t Size>
    static HWY_INLINE uint32_t shift(uint32_t crc) {
        return TableCrc::shift<Size>(crc);
    }
};
#endif

// Where the bytes go besides the CRC.
struct NoOutput {
    HWY_INLINE HWY_ATTR void line(size_t, const Line &) const {}
    HWY_INLINE void rest(const uint8_t *, size_t) const {}
    HWY_INLINE void advance(size_t) const {}
};

template <Stores S>
struct CopyOutput {
    uint8_t *dst;
    HWY_INLINE HWY_ATTR void line(size_t offset, const Line &line) const { store_line<S>(line, dst + offset); }
    HWY_INLINE void rest(const uint8_t *src, size_t size) const { memcpy(dst, src, size); }
    HWY_INLINE void advance(size_t size) { dst += size; }
};

template <class Crc>
HWY_INLINE HWY_ATTR uint32_t crc_bytes(const uint8_t *src, size_t size, uint32_t crc) {
    for (; size >= 8; src += 8, size -= 8) crc = Crc::word(crc, load_word(src));
    for (; size; ++src, --size) crc = Crc::byte(crc, *src);
    return crc;
}

// Each way below is `run(src, size, last, crc, output)`: crc is the inverted CRC so far, `last` the last byte of the source
// that the caller will come to, which may lie beyond size.

// Word by word, in three lanes a third of the data apart: that hides the latency of the CRC step and gives memory three
// streams to fetch. A lane of 341 lines is odd on purpose (lanes a multiple of 4 KiB apart fight for the same cache sets),
// and three of them fit in a 64 KiB piece after up to 63 bytes that align the destination.
template <class Step>
struct LaneCrc {
    using Crc = Step;
    static constexpr size_t long_lane = 341 * line_size, short_lane = 21 * line_size, tiny_lane = 2 * line_size;
    static constexpr size_t lane_prefetch = 1024;

    template <size_t Size, class Output>
    static HWY_INLINE HWY_ATTR uint32_t lanes(const uint8_t *src, uint32_t crc, const Output &output) {
        uint32_t state[3] = {};
        for (size_t at = 0; at < Size; at += line_size) {
            const size_t ahead = at + lane_prefetch < Size ? at + lane_prefetch : Size - 1;
            if constexpr (Size > 2 * lane_prefetch)
                for (size_t lane = 0; lane < 3; ++lane) __builtin_prefetch(src + lane * Size + ahead);
            for (size_t word = at; word < at + line_size;
                 word += 8) // before the stores: they would wait for the loads anyway
                for (size_t lane = 0; lane < 3; ++lane)
                    state[lane] = Crc::word(state[lane], load_word(src + lane * Size + word));
            for (size_t lane = 0; lane < 3; ++lane) output.line(lane * Size + at, load_line(src + lane * Size + at));
        }
        return Crc::template shift<3 * Size>(crc) ^ Crc::template shift<2 * Size>(state[0]) ^
               Crc::template shift<Size>(state[1]) ^ state[2];
    }

    template <class Output>
    static HWY_INLINE HWY_ATTR uint32_t run(const uint8_t *src, size_t size, const uint8_t *, uint32_t crc, Output output) {
        const auto take = [&](size_t taken) HWY_ATTR { src += taken, size -= taken, output.advance(taken); };
        for (; size >= 3 * long_lane; take(3 * long_lane)) crc = lanes<long_lane>(src, crc, output);
        for (; size >= 3 * short_lane; take(3 * short_lane)) crc = lanes<short_lane>(src, crc, output);
        for (; size >= 3 * tiny_lane; take(3 * tiny_lane)) crc = lanes<tiny_lane>(src, crc, output);
        output.rest(src, size);
        return crc_bytes<Crc>(src, size, crc);
    }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
// Four 64-byte remainders folded with carry-less multiplications, in one stream: no slower than the copy alone.
struct FoldCrc {
    using Crc = InstructionCrc;
    static constexpr size_t block = 4 * line_size;

    template <size_t Distance> // bytes
    static HWY_INLINE HWY_ATTR __m512i fold(__m512i remainder, __m512i data) {
        constexpr auto low = static_cast<long long>(gf2::fold_multiplier(8 * Distance + 32)),
                       high = static_cast<long long>(gf2::fold_multiplier(8 * Distance - 32));
        const __m512i multipliers = _mm512_broadcast_i32x4(_mm_set_epi64x(high, low));
        return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(remainder, multipliers, 0x00),
                                         _mm512_clmulepi64_epi128(remainder, multipliers, 0x11), data, 0x96);
    }

    template <class Output>
    static HWY_INLINE HWY_ATTR uint32_t run(const uint8_t *src, size_t size, const uint8_t *last, uint32_t crc,
                                            Output output) {
        if (size >= block) {
            __m512i remainder[4] = {}, seed = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc)));
            size_t at = 0;
            for (; at + block <= size; at += block) {
                Line line[4];
                for (size_t i = 0; i < 4; ++i) prefetch(src + at + i * line_size, last);
                for (size_t i = 0; i < 4; ++i) line[i] = load_line(src + at + i * line_size);
                for (size_t i = 0; i < 4; ++i) {
                    __m512i data = line[i].part[0].raw;
                    if (i == 0) data = _mm512_xor_si512(data, seed), seed = _mm512_setzero_si512();
                    remainder[i] = fold<block>(remainder[i], data);
                }
                for (size_t i = 0; i < 4; ++i) output.line(at + i * line_size, line[i]);
            }
            __m512i all = remainder[0];
            for (size_t i = 1; i < 4; ++i) all = fold<line_size>(all, remainder[i]);
            for (; at + line_size <= size; at += line_size) {
                const Line line = load_line(src + at);
                all = fold<line_size>(all, line.part[0].raw);
                output.line(at, line);
            }
            alignas(64) uint8_t folded[line_size];
            _mm512_store_si512(folded, all);
            crc = crc_bytes<Crc>(folded, line_size, 0);
            src += at, size -= at, output.advance(at);
        }
        output.rest(src, size);
        return crc_bytes<Crc>(src, size, crc);
    }
};
#endif

template <class Way>
HWY_ATTR uint32_t crc32c_of(const void *data, size_t size, uint32_t seed) noexcept {
    const auto *src = static_cast<const uint8_t *>(data);
    return ~Way::run(src, size, src + size - 1, ~seed, NoOutput{});
}

template <class Way>
HWY_ATTR void copy_crc32c_of(void *dst_address, const void *src_address, size_t size, Stores stores,
                             uint32_t *crc) noexcept {
    constexpr size_t piece_size = 65536;
    auto *dst = static_cast<uint8_t *>(dst_address);
    const auto *src = static_cast<const uint8_t *>(src_address), *const last = src + size - 1;
    while (size) {
        const size_t piece = size < piece_size ? size : piece_size;
        if (stores == Stores::streaming) {
            const size_t head = to_line(dst, piece);
            const uint32_t begun = crc_bytes<typename Way::Crc>(src, head, ~uint32_t{0});
            memcpy(dst, src, head);
            *crc++ = ~Way::run(src + head, piece - head, last, begun, CopyOutput<Stores::streaming>{dst + head});
        } else {
            *crc++ = ~Way::run(src, piece, last, ~uint32_t{0}, CopyOutput<Stores::regular>{dst});
        }
        dst += piece, src += piece, size -= piece;
    }
    if (stores == Stores::streaming) streaming_fence();
}

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#endif
