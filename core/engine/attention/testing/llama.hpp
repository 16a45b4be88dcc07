// SPDX-License-Identifier: Apache-2.0
// For tests: a model shaped as Llama is, with random weights, that keeps its keys and values wherever the test says.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace hbf::kv::testing {

struct LlamaShape {
    uint32_t vocabulary = 320, layers = 3, width = 64, query_heads = 4, kv_heads = 2, head_dim = 16, hidden = 128;
};

// Plain loops, the same in every run: what differs between two decodings is attention alone.
class Llama {
public:
    // Of one layer and token: keys and values to keep, and the query; writes query_heads * head_dim numbers.
    using Attend = std::function<void(uint32_t layer, const float *key, const float *value, const float *query, float *out)>;

    explicit Llama(uint64_t seed, const LlamaShape &of = {});

    LlamaShape shape;

    // The likeliest next token.
    uint32_t step(uint32_t token, uint32_t position, const Attend &attend);

private:
    using Matrix = std::vector<float>;
    struct Layer {
        Matrix query, key, value, output, gate, up, down;
    };

    Matrix matrix(uint32_t rows, uint32_t columns, float size);
    void rotate(std::vector<float> &heads, uint32_t position) const;

    std::mt19937_64 random_;
    Matrix embedding_, head_;
    std::vector<Layer> layers_;
};

} // namespace hbf::kv::testing
