// SPDX-License-Identifier: Apache-2.0
// What the compiler says about this build of a plugin.
#pragma once

#include <cstdint>

#include "hbf/abi/host.h"

#define HBF_SDK_TEXT_OF(x) #x
#define HBF_SDK_TEXT(x) HBF_SDK_TEXT_OF(x)

#if defined(__clang__)
#define HBF_SDK_COMPILER "clang++ " __clang_version__
#elif defined(__GNUC__)
#define HBF_SDK_COMPILER "g++ " __VERSION__
#else
#define HBF_SDK_COMPILER "unknown compiler"
#endif

#if defined(__OPTIMIZE__)
#define HBF_SDK_OPTIMIZED " -O"
#else
#define HBF_SDK_OPTIMIZED " -O0"
#endif

#if defined(__has_feature)
#define HBF_SDK_HAS_FEATURE(x) __has_feature(x)
#else
#define HBF_SDK_HAS_FEATURE(x) 0
#endif

namespace hbf::sdk::shell {

inline constexpr char compiler[] = HBF_SDK_COMPILER HBF_SDK_OPTIMIZED " C++" HBF_SDK_TEXT(__cplusplus);

#if defined(__SANITIZE_ADDRESS__) || HBF_SDK_HAS_FEATURE(address_sanitizer)
inline constexpr uint32_t sanitizer_kind = HBF_SANITIZER_ADDRESS;
#elif defined(__SANITIZE_THREAD__) || HBF_SDK_HAS_FEATURE(thread_sanitizer)
inline constexpr uint32_t sanitizer_kind = HBF_SANITIZER_THREAD;
#elif HBF_SDK_HAS_FEATURE(memory_sanitizer)
inline constexpr uint32_t sanitizer_kind = HBF_SANITIZER_MEMORY;
#else
inline constexpr uint32_t sanitizer_kind = HBF_SANITIZER_NONE;
#endif

} // namespace hbf::sdk::shell
