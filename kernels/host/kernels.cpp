// SPDX-License-Identifier: Apache-2.0
// Compiles every kernel once per instruction set and chooses the variant at first use.
#include <atomic>
#include <cstring>

#include "crc32c.hpp"
#include "operations.hpp"
#include "target.hpp"

#if defined(__x86_64__)
#define HWY_WANT_AVX3_DL 1
#else
#define HWY_COMPILE_ONLY_STATIC 1   // NEON is every aarch64's baseline ...
#define TOOLCHAIN_MISS_SYS_AUXV_H 1 // ... so no function needs a target attribute of its own
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "copy-inl.hpp"
#include "crc32c-inl.hpp"
#include "kv_blocks-inl.hpp"
#include "pattern-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {

template <class Way>
constexpr Operations operations_with(const char *name) {
    return {name,      &crc32c_of<Way>, &copy,           &copy_crc32c_of<Way>, &fill,
            &read_all, &pattern_fill,   &pattern_verify, &kv_gather,           &kv_scatter};
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
constexpr Operations operations = operations_with<FoldCrc>("AVX3_DL");
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr Operations operations = operations_with<LaneCrc<InstructionCrc>>("AVX3");
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
constexpr Operations operations = operations_with<LaneCrc<InstructionCrc>>("AVX2");
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
constexpr Operations operations = operations_with<LaneCrc<InstructionCrc>>("SSE4");
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
constexpr Operations operations = operations_with<LaneCrc<TableCrc>>("SSSE3");
#elif HWY_ARCH_ARM_A64
constexpr Operations operations = operations_with<LaneCrc<TableCrc>>("NEON");
constexpr Operations operations_crc = operations_with<LaneCrc<InstructionCrc>>("NEON_CRC");
#else
constexpr Operations operations = operations_with<LaneCrc<TableCrc>>("BASELINE");
#endif

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if HWY_ARCH_ARM_A64
#include <sys/auxv.h>
#endif

namespace hbf::kernels {
namespace {

// Best first, ended by nullptr.
struct Available {
    const Operations *list[8] = {};
    Available() {
        size_t count = 0;
#if HWY_ARCH_ARM_A64
        constexpr unsigned long hwcap_crc32 = 1ul << 7;
        if (getauxval(AT_HWCAP) & hwcap_crc32) list[count++] = &N_NEON::operations_crc;
        list[count++] = &N_NEON::operations;
#elif HWY_TARGETS == HWY_STATIC_TARGET
        list[count++] = &HWY_STATIC_DISPATCH(operations);
#else
        const int64_t supported = hwy::SupportedTargets();
        const auto add = [&](int64_t target, const Operations &operations) {
            if (supported & target) list[count++] = &operations;
        };
#if HWY_TARGETS & HWY_AVX3_DL
        add(HWY_AVX3_DL, N_AVX3_DL::operations);
#endif
#if HWY_TARGETS & HWY_AVX3
        add(HWY_AVX3, N_AVX3::operations);
#endif
#if HWY_TARGETS & HWY_AVX2
        add(HWY_AVX2, N_AVX2::operations);
#endif
#if HWY_TARGETS & HWY_SSE4
        add(HWY_SSE4, N_SSE4::operations);
#endif
#if HWY_TARGETS & HWY_SSSE3
        add(HWY_SSSE3, N_SSSE3::operations);
#endif
#if HWY_TARGETS & HWY_EMU128
        add(HWY_EMU128, N_EMU128::operations);
#elif HWY_TARGETS & HWY_SCALAR
        add(HWY_SCALAR, N_SCALAR::operations);
#endif
#endif
    }
};

const Available &available() noexcept {
    static const Available instance;
    return instance;
}

std::atomic<const Operations *> chosen{nullptr};

const Operations &use() noexcept {
    if (const Operations *operations = chosen.load(std::memory_order_acquire)) return *operations;
    const Operations *best = available().list[0], *none = nullptr;
    chosen.compare_exchange_strong(none, best, std::memory_order_acq_rel);
    return *best;
}

} // namespace

const char *kernels_target() noexcept {
    return use().target;
}

std::vector<const char *> kernels_targets() {
    std::vector<const char *> names;
    for (const Operations *const *entry = available().list; *entry; ++entry) names.push_back((*entry)->target);
    return names;
}

bool use_kernels_target(std::string_view name) noexcept {
    for (const Operations *const *entry = available().list; *entry; ++entry)
        if (name.empty() || name == (*entry)->target) {
            chosen.store(*entry, std::memory_order_release);
            return true;
        }
    return false;
}

uint32_t crc32c(const void *data, size_t size, uint32_t seed) noexcept {
    return use().crc32c(data, size, seed);
}
void copy(void *dst, const void *src, size_t size, Stores stores) noexcept {
    use().copy(dst, src, size, stores);
}
void copy_crc32c(void *dst, const void *src, size_t size, Stores stores, uint32_t *crc) noexcept {
    use().copy_crc32c(dst, src, size, stores, crc);
}
void fill(void *dst, size_t size, uint64_t pattern, unsigned pattern_size, Stores stores) noexcept {
    use().fill(dst, size, pattern, pattern_size, stores);
}
uint64_t read_all(const void *src, size_t size) noexcept {
    return use().read_all(src, size);
}

uint32_t pattern_word(const PatternKey &key, uint64_t address) noexcept {
    const uint64_t index = address / 4;
    return pattern_hash(pattern_window(key, static_cast<uint32_t>(index >> 32)), static_cast<uint32_t>(index));
}
void pattern_fill(void *dst, size_t size, const PatternKey &key, uint64_t address) noexcept {
    use().pattern_fill(dst, size, key, address);
}
PatternResult pattern_verify(const void *src, size_t size, const PatternKey &key, uint64_t address) noexcept {
    return use().pattern_verify(src, size, key, address);
}

void kv_gather(const KvBlocks &layout, const void *pool, const uint32_t *list, void *packed, uint32_t *outcome,
               Stores stores) noexcept {
    use().kv_gather(layout, pool, list, packed, outcome, stores);
}
void kv_scatter(const KvBlocks &layout, void *pool, const uint32_t *list, const void *packed, uint32_t *outcome,
                Stores stores) noexcept {
    use().kv_scatter(layout, pool, list, packed, outcome, stores);
}

} // namespace hbf::kernels
#endif // HWY_ONCE
