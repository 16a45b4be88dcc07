// SPDX-License-Identifier: Apache-2.0
// Arithmetic behind CRC-32C: polynomials modulo P over GF(2), bit-reflected (bit 31 is x^0), all usable at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/device/gf2.h"

namespace hbf::kernels::gf2 {

inline constexpr uint32_t polynomial = HBF_CRC32C_POLYNOMIAL; // Castagnoli, reflected

constexpr uint32_t multiply(uint32_t a, uint32_t b) {
    return device::gf2_multiply(a, b);
}

constexpr uint32_t x_power(uint64_t n) {
    return device::gf2_power(n);
}

// Carry-less multiplier that stands for x^n: the product of two reflected 64-bit operands has one bit less, hence the shift.
constexpr uint64_t fold_multiplier(uint64_t n) {
    return uint64_t{x_power(n)} << 1;
}

// Eight tables: byte b of an 8-byte word, at distance 7 - b.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
    Tables tables{};
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) crc = device::gf2_times_x(crc);
        tables[0][i] = crc;
    }
    for (size_t t = 1; t < 8; ++t)
        for (size_t i = 0; i < 256; ++i) tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 255];
    return tables;
}

} // namespace hbf::kernels::gf2
