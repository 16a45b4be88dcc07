// SPDX-License-Identifier: Apache-2.0
#include "conformance/engine/model.hpp"

#include <algorithm>

namespace hbf::campaign {

std::vector<double> attention(const Shape &shape, std::span<const uint32_t> tokens, uint32_t layer,
                              std::span<const float> query) {
    const auto keys = rows(shape, tokens, 0, layer, true), values = rows(shape, tokens, 0, layer, false);
    std::vector<double> out(size_t{shape.query_heads} * shape.head_dim), scores(tokens.size());
    const uint32_t shared = shape.query_heads / shape.kv_heads;
    for (uint32_t head = 0; head < shape.query_heads; ++head) {
        const size_t column = size_t{head / shared} * shape.head_dim;
        double most = -INFINITY, sum = 0;
        for (size_t t = 0; t < tokens.size(); ++t) {
            double score = 0;
            for (uint32_t i = 0; i < shape.head_dim; ++i)
                score += static_cast<double>(query[head * shape.head_dim + i]) * keys[t * shape.row() + column + i];
            scores[t] = score / std::sqrt(shape.head_dim);
            most = std::max(most, scores[t]);
        }
        for (double &score : scores) sum += score = std::exp(score - most);
        for (size_t t = 0; t < tokens.size(); ++t)
            for (uint32_t i = 0; i < shape.head_dim; ++i)
                out[head * shape.head_dim + i] += scores[t] / sum * values[t * shape.row() + column + i];
    }
    return out;
}

} // namespace hbf::campaign
