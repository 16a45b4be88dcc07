// SPDX-License-Identifier: Apache-2.0
// What a sequence has to hold, in plain memory: every number follows from the token, its place, the layer and the index.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hbf/kv.hpp"

namespace hbf::campaign {

struct Shape {
    uint32_t layers = 2, query_heads = 4, kv_heads = 2, head_dim = 32;
    uint32_t row() const { return kv_heads * head_dim; }
};

inline float number(uint32_t token, uint64_t place, uint32_t layer, uint32_t i, bool key) {
    uint64_t mixed =
        (uint64_t{token} << 32 ^ place << 8 ^ uint64_t{layer} << 24 ^ i << 1 ^ uint64_t{key}) + 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return static_cast<float>(static_cast<int64_t>(mixed >> 40) - (1 << 23)) / (1 << 22);
}

inline std::vector<float> rows(const Shape &shape, std::span<const uint32_t> tokens, uint64_t first, uint32_t layer,
                               bool key) {
    std::vector<float> out;
    out.reserve(tokens.size() * shape.row());
    for (size_t t = 0; t < tokens.size(); ++t)
        for (uint32_t i = 0; i < shape.row(); ++i) out.push_back(number(tokens[t], first + t, layer, i, key));
    return out;
}

// Attention in double precision over all tokens.
std::vector<double> attention(const Shape &shape, std::span<const uint32_t> tokens, uint32_t layer,
                              std::span<const float> query);

} // namespace hbf::campaign
