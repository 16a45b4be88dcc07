// SPDX-License-Identifier: Apache-2.0
// Compiles attention once per instruction set that matters to it, and chooses the variant that target.hpp's choice includes.
#include <cstring>
#include <iterator>

#include "kernels/host/target.hpp"
#include "operations.hpp"

// What these add is nothing to attention: AVX3_DL is AVX3 here, SSSE3 the baseline.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#if !defined(__x86_64__)
#define HWY_COMPILE_ONLY_STATIC 1   // NEON is every aarch64's baseline ...
#define TOOLCHAIN_MISS_SYS_AUXV_H 1 // ... so no function needs a target attribute of its own
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/attention/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "merge-inl.hpp"
#include "partial-inl.hpp"
#include "sketch-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr AttentionOperations attention_operations{"AVX3", true, &attention, &attention_merge, &sketch_score, &fma_loop};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
constexpr AttentionOperations attention_operations{"AVX2", true, &attention, &attention_merge, &sketch_score, &fma_loop};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
constexpr AttentionOperations attention_operations{"SSE4", false, &attention, &attention_merge, &sketch_score, &fma_loop};
#elif HWY_ARCH_ARM_A64
constexpr AttentionOperations attention_operations{"NEON", true, &attention, &attention_merge, &sketch_score, &fma_loop};
#else
constexpr AttentionOperations attention_operations{"BASELINE",       false,         &attention,
                                                   &attention_merge, &sketch_score, &fma_loop};
#endif
} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbf::kernels {
namespace {

#if HWY_TARGETS == HWY_STATIC_TARGET
constexpr const AttentionOperations *variants[] = {&HWY_STATIC_DISPATCH(attention_operations)};
#else
constexpr const AttentionOperations *variants[] = {
// best first
#if HWY_TARGETS & HWY_AVX3
    &N_AVX3::attention_operations,
#endif
#if HWY_TARGETS & HWY_AVX2
    &N_AVX2::attention_operations,
#endif
#if HWY_TARGETS & HWY_SSE4
    &N_SSE4::attention_operations,
#endif
#if HWY_TARGETS & HWY_EMU128
    &N_EMU128::attention_operations,
#elif HWY_TARGETS & HWY_SCALAR
    &N_SCALAR::attention_operations,
#endif
};
#endif

const AttentionOperations &use() noexcept {
    const char *const target = kernels_target();
    for (const AttentionOperations *variant : variants)
        if (std::strncmp(target, variant->target, std::strlen(variant->target)) == 0) return *variant; // AVX3 for AVX3_DL
    return **(std::end(variants) - 1);
}

} // namespace

void attention(const AttentionBuffers &buffers, const device::attention_arguments &arguments) noexcept {
    use().partial(buffers, arguments);
}
void attention_merge(const float *state, const float *output, float *merged_state, float *merged_output,
                     const device::attention_merge_arguments &arguments) noexcept {
    use().merge(state, output, merged_state, merged_output, arguments);
}
void sketch_score(const SketchBuffers &buffers, const device::sketch_score_arguments &arguments) noexcept {
    use().sketch_score(buffers, arguments);
}
uint64_t attention_fma_loop(uint64_t rounds) noexcept {
    return use().fma_loop(rounds);
}
const char *attention_target() noexcept {
    return use().target;
}
bool attention_is_fused() noexcept {
    return use().fused;
}

} // namespace hbf::kernels
#endif // HWY_ONCE
