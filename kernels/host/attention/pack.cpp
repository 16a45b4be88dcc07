// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "attention.hpp"

namespace hbf::kernels {
namespace {

template <class Word>
void pack(const device::kv_shape &shape, const uint8_t *keys, const uint8_t *values, uint32_t first, uint32_t tokens,
          uint8_t *block) {
    for (uint32_t token = 0; token < tokens; ++token)
        for (uint32_t head = 0; head < shape.kv_heads; ++head)
            for (uint32_t channel = 0; channel < shape.head_dim; ++channel) {
                std::memcpy(block + sizeof(Word) * device::kv_key_index(shape, head, first + token, channel), keys,
                            sizeof(Word));
                std::memcpy(block + sizeof(Word) * device::kv_value_index(shape, head, first + token, channel), values,
                            sizeof(Word));
                keys += sizeof(Word), values += sizeof(Word);
            }
}

} // namespace

const char *attention_refused(const device::kv_shape &shape) noexcept {
    switch (device::kv_shape_refused(shape)) {
    case 0:
        return nullptr;
    case 1:
        return "query_heads must be a multiple of kv_heads, 1 to 1024";
    case 2:
        return "kv_heads must be at least 1";
    case 3:
        return "head_dim must be a multiple of 16, up to 256";
    case 4:
        return "block_tokens must be a multiple of 16, up to 256";
    default:
        return "element must be fp16 (0), bf16 (1) or fp32 (2)";
    }
}

void attention_finish(const float *state, float *output, uint32_t query_heads, uint32_t head_dim) noexcept {
    for (uint32_t head = 0; head < query_heads; ++head)
        for (uint32_t i = 0; i < head_dim; ++i, ++output)
            *output = state[2 * head + 1] == 0 ? 0 : *output / state[2 * head + 1];
}

bool attention_pack(const device::kv_shape &shape, const void *keys, const void *values, uint32_t first, uint32_t tokens,
                    void *block) noexcept {
    if (device::kv_shape_refused(shape) || first > shape.block_tokens || tokens > shape.block_tokens - first) return false;
    const auto *const key = static_cast<const uint8_t *>(keys), *const value = static_cast<const uint8_t *>(values);
    (shape.element == HBF_ELEMENT_FP32 ? pack<uint32_t> : pack<uint16_t>)(shape, key, value, first, tokens,
                                                                          static_cast<uint8_t *>(block));
    return true;
}

} // namespace hbf::kernels
