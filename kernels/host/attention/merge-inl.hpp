// SPDX-License-Identifier: Apache-2.0
// The merge of partial attention, per instruction set: kernels/device/attention_merge.h, 16 channels at a time.
#if defined(HBF_KERNELS_ATTENTION_MERGE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HBF_KERNELS_ATTENTION_MERGE_INL
#undef HBF_KERNELS_ATTENTION_MERGE_INL
#else
#define HBF_KERNELS_ATTENTION_MERGE_INL
#endif

#include "attention.hpp"
#include "float-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hbf::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE HWY_ATTR float first_lane(RowVector vector) {
    return hn::GetLane(vector);
}

HWY_ATTR inline void attention_merge(const float *state, const float *output, float *merged_state, float *merged_output,
                                     const device::attention_merge_arguments &arguments) noexcept {
    const Floats d;
    const size_t dim = arguments.head_dim, heads = dim % row_size ? 0 : arguments.query_heads;
    for (size_t head = 0; head < heads; ++head, merged_state += 2) {
        float *const into = merged_output + head * dim;
        float max = -infinity;
        for (size_t b = 0; b < arguments.block_count && max < infinity; ++b) {
            const float m = state[2 * (b * heads + head)], l = state[2 * (b * heads + head) + 1];
            max = !(m < infinity) || l != l ? infinity : m > max ? m : max;
        }
        for (size_t i = 0; i < dim; ++i) into[i] = max < infinity ? 0 : no_number;
        merged_state[0] = max < infinity ? max + 0.0f : no_number;
        merged_state[1] = max < infinity ? 0 : no_number;
        if (!(max < infinity)) continue;
        auto sum = hn::Zero(d);
        for (size_t b = 0; b < arguments.block_count; ++b) {
            const size_t slot = b * heads + head;
            if (state[2 * slot] == -infinity) continue;
            const auto weight = exp_of(hn::Set(d, state[2 * slot] - max));
            sum = hn::MulAdd(hn::Set(d, state[2 * slot + 1]), weight, sum);
            for (size_t i = 0; i < dim; i += row_lanes)
                hn::StoreU(hn::MulAdd(hn::LoadU(d, output + slot * dim + i), weight, hn::LoadU(d, into + i)), d, into + i);
        }
        merged_state[1] = first_lane(plain_nan(sum));
        for (size_t i = 0; i < dim; i += row_lanes) hn::StoreU(plain_nan(hn::LoadU(d, into + i)), d, into + i);
    }
}

// Speed of the processor, for the bench.
HWY_ATTR inline uint64_t fma_loop(uint64_t rounds) noexcept {
    const Floats d;
    constexpr size_t chains = 12; // fewer than 16 registers, more than latency times instructions a cycle
    RowVector sum[chains];
    for (size_t i = 0; i < chains; ++i) sum[i] = hn::Set(d, static_cast<float>(i));
    auto factor = hn::Set(d, 0.5f), term = hn::Set(d, 1.0f);
    for (uint64_t round = 0; round < rounds; ++round)
        for (size_t i = 0; i < chains; ++i) sum[i] = hn::MulAdd(sum[i], factor, term);
    for (size_t i = 1; i < chains; ++i) sum[0] = hn::Add(sum[0], sum[i]);
    return first_lane(sum[0]) > 0 ? chains * row_lanes : 0;
}

} // namespace HWY_NAMESPACE
} // namespace hbf::kernels
HWY_AFTER_NAMESPACE();

#endif
