/* SPDX-License-Identifier: Apache-2.0 */
/* Polynomials modulo CRC-32C's over GF(2), bit-reflected: bit 31 is x^0. */
#ifndef HBF_DEVICE_GF2_H
#define HBF_DEVICE_GF2_H

#include "portable.h"

HBF_DEVICE_BEGIN

#define HBF_CRC32C_POLYNOMIAL 0x82F63B78u

HBF_PURE uint32_t gf2_times_x(uint32_t a) {
    return (a >> 1) ^ ((a & 1) ? HBF_CRC32C_POLYNOMIAL : 0);
}

HBF_PURE uint32_t gf2_multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (; a; a <<= 1) {
        if (a & 0x80000000u) product ^= b;
        b = gf2_times_x(b);
    }
    return product;
}

/* x^n */
HBF_PURE uint32_t gf2_power(uint64_t n) {
    uint32_t result = 0x80000000u, square = 0x40000000u;
    for (; n; n >>= 1) {
        if (n & 1) result = gf2_multiply(result, square);
        square = gf2_multiply(square, square);
    }
    return result;
}

HBF_DEVICE_END

#endif
