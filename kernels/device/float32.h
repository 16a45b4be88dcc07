/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic in fp32 that gives the same bits on every device with a fused multiply-add and subnormal numbers, and on the
 * host: each operation rounds once, none is contracted or reordered.  No NaN leaves a kernel but HBF_NAN. */
#ifndef HBF_DEVICE_FLOAT32_H
#define HBF_DEVICE_FLOAT32_H

#include "portable.h"

/* How numbers are stored. */
#define HBF_ELEMENT_FP16 0u
#define HBF_ELEMENT_BF16 1u
#define HBF_ELEMENT_FP32 2u
#define HBF_ELEMENT_COUNT 3u

#if defined(__OPENCL_VERSION__)
#pragma OPENCL FP_CONTRACT OFF
#define HBF_FLOAT(bits) as_float((uint)(bits))
#define HBF_BITS(value) as_uint((float)(value))
#elif defined(__CUDACC__) && !defined(__HIP__)
#define HBF_FLOAT(bits) __uint_as_float(bits)
#define HBF_BITS(value) __float_as_uint(value)
#else
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
#define HBF_FLOAT(bits) __builtin_bit_cast(float, (uint32_t)(bits))
#define HBF_BITS(value) __builtin_bit_cast(uint32_t, (float)(value))
#endif

#define HBF_NAN HBF_FLOAT(0x7fc00000u)
#define HBF_INFINITY HBF_FLOAT(0x7f800000u)

HBF_DEVICE_BEGIN

/* a * b + c, rounded once. */
HBF_FUNCTION float hbf_fma(float a, float b, float c) {
#if defined(__OPENCL_VERSION__)
    return fma(a, b, c);
#elif defined(__CUDACC__) && !defined(__HIP__)
    return __fmaf_rn(a, b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}

/* Not to become part of a fused operation. */
HBF_FUNCTION float hbf_mul(float a, float b) {
#if defined(__CUDACC__) && !defined(__HIP__)
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}
HBF_FUNCTION float hbf_add(float a, float b) {
#if defined(__CUDACC__) && !defined(__HIP__)
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

HBF_FUNCTION float hbf_magnitude(float x) {
    return HBF_FLOAT(HBF_BITS(x) & 0x7fffffffu);
}

/* e^x for x <= 0 within 2 units in the last place; 0 below -87, where a float would soon be subnormal. */
HBF_FUNCTION float hbf_exp(float x) {
    const float shift = 12582912.0f;                /* 1.5 * 2^23: its last bits are the integer */
    const float t = hbf_fma(x, 1.44269502f, shift); /* x / ln 2 to the nearest integer ... */
    const float n = hbf_add(t, -shift);             /* ... as a float, ln 2 in two parts of it taken off */
    const float r = hbf_fma(-n, 0.0017409306f, hbf_fma(-n, 0.69140625f, x));
    float p = 0.00139505381f; /* least maximum of the error on +-0.5 ln 2, 3e-9 */
    p = hbf_fma(p, r, 0.00836891774f);
    p = hbf_fma(p, r, 0.041666206f);
    p = hbf_fma(p, r, 0.166665182f);
    p = hbf_fma(p, r, 0.5f);
    p = hbf_fma(p, r, 1.0f);
    p = hbf_fma(p, r, 1.0f);
    return x >= -87.0f ? HBF_FLOAT(HBF_BITS(p) + (HBF_BITS(t) << 23)) : 0.0f;
}

/* Any bits of fp16, exactly. */
HBF_FUNCTION float hbf_from_fp16(uint32_t word) {
    const uint32_t sign = (word & 0x8000u) << 16, exponent = word >> 10 & 0x1fu, fraction = word & 0x3ffu;
    const uint32_t small = HBF_BITS((float)(int32_t)fraction * HBF_FLOAT(0x33800000u)); /* 2^-24 */
    const uint32_t normal = (exponent + (exponent == 31 ? 224u : 112u)) << 23 | fraction << 13;
    return HBF_FLOAT(sign | (exponent == 0 ? small : normal));
}

HBF_FUNCTION uint32_t hbf_element_size(uint32_t element) {
    return element == HBF_ELEMENT_FP32 ? 4u : 2u;
}

/* Number `index` of those stored from `at` on. */
HBF_FUNCTION float hbf_load_element(HBF_GLOBAL const uint8_t *at, uint32_t element, uint64_t index) {
    if (element == HBF_ELEMENT_FP32) return HBF_FLOAT(hbf_load32(at + 4 * index));
#if defined(HBF_ON_HOST)
    uint16_t word;
    std::memcpy(&word, at + 2 * index, sizeof word);
#else
    const uint16_t word = ((HBF_GLOBAL const uint16_t *)at)[index];
#endif
    return element == HBF_ELEMENT_BF16 ? HBF_FLOAT((uint32_t)word << 16) : hbf_from_fp16(word);
}

HBF_FUNCTION float hbf_load_float(HBF_GLOBAL const uint8_t *at, uint64_t index) {
    return HBF_FLOAT(hbf_load32(at + 4 * index));
}
HBF_FUNCTION void hbf_store_float(HBF_GLOBAL uint8_t *at, uint64_t index, float value) {
    hbf_store32(at + 4 * index, value == value ? HBF_BITS(value) : 0x7fc00000u);
}

/* Sum of 16 numbers in a fixed order: the upper half onto the lower, until one is left. */
HBF_FUNCTION float hbf_sum16(HBF_LOCAL const float *lane) {
    float sum[8];
    for (uint32_t i = 0; i < 8; ++i) sum[i] = hbf_add(lane[i], lane[i + 8]);
    for (uint32_t width = 4; width != 0; width /= 2)
        for (uint32_t i = 0; i < width; ++i) sum[i] = hbf_add(sum[i], sum[i + width]);
    return sum[0];
}

/* The largest of 16 numbers, none of them NaN. */
HBF_FUNCTION float hbf_max16(HBF_LOCAL const float *lane) {
    float max = lane[0];
    for (uint32_t i = 1; i < 16; ++i) max = lane[i] > max ? lane[i] : max;
    return max;
}

HBF_DEVICE_END

#endif
