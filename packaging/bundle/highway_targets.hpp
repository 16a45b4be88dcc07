// SPDX-License-Identifier: Apache-2.0
// What libhwy tells about this processor, for the instruction sets that kernels/host has variants for.
#pragma once

#include <cstdint>

#include <hwy/detect_targets.h>

namespace hbf::bundle {

// A bit of HWY_AVX3_DL and so on for each set that processor and kernel support. The groups are those of Highway: code for a
// set may use all of its group, so one feature that is missing takes the whole set away.
inline int64_t supported_targets() {
    __builtin_cpu_init();
    int64_t found = HWY_EMU128 | HWY_SCALAR;
    const bool ssse3 = __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3");
    if (!ssse3) return found;
    found |= HWY_SSSE3;
    const bool sse4 = __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
    if (!sse4) return found;
    found |= HWY_SSE4;
    const bool avx2 = __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("lzcnt") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("f16c");
    if (!avx2) return found;
    found |= HWY_AVX2;
    const bool avx3 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd");
    if (!avx3) return found;
    found |= HWY_AVX3;
    const bool avx3_dl = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("vpclmulqdq") &&
                         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                         __builtin_cpu_supports("vaes") && __builtin_cpu_supports("avx512vpopcntdq") &&
                         __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("gfni");
    if (avx3_dl) found |= HWY_AVX3_DL;
    return found;
}

} // namespace hbf::bundle
