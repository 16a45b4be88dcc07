// SPDX-License-Identifier: Apache-2.0
// A room of its own, for it is optimised where tests are not: whole decodings are a test's one step.
#include "llama.hpp"

#include <cmath>

namespace hbf::kv::testing {
namespace {

std::vector<float> times(const std::vector<float> &matrix, const std::vector<float> &x) {
    std::vector<float> out(matrix.size() / x.size());
    for (size_t row = 0; row < out.size(); ++row) {
        float sum = 0;
        for (size_t i = 0; i < x.size(); ++i) sum += matrix[row * x.size() + i] * x[i];
        out[row] = sum;
    }
    return out;
}

void add(std::vector<float> &x, const std::vector<float> &more) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += more[i];
}

std::vector<float> normed(const std::vector<float> &x) {
    float sum = 0;
    for (const float number : x) sum += number * number;
    const float factor = 1 / std::sqrt(sum / static_cast<float>(x.size()) + 1e-5f);
    std::vector<float> out(x);
    for (float &number : out) number *= factor;
    return out;
}

} // namespace

Llama::Llama(uint64_t seed, const LlamaShape &of) : shape(of), random_(seed) {
    embedding_ = matrix(shape.vocabulary, shape.width, 1);
    head_ = matrix(shape.vocabulary, shape.width, 3 / std::sqrt(static_cast<float>(shape.width)));
    const uint32_t q = shape.query_heads * shape.head_dim, kv = shape.kv_heads * shape.head_dim;
    const auto size = [](uint32_t from) { return 1.5f / std::sqrt(static_cast<float>(from)); };
    for (uint32_t i = 0; i < shape.layers; ++i)
        layers_.push_back({matrix(q, shape.width, size(shape.width)), matrix(kv, shape.width, size(shape.width)),
                           matrix(kv, shape.width, size(shape.width)), matrix(shape.width, q, size(q)),
                           matrix(shape.hidden, shape.width, size(shape.width)),
                           matrix(shape.hidden, shape.width, size(shape.width)),
                           matrix(shape.width, shape.hidden, size(shape.hidden))});
}

Llama::Matrix Llama::matrix(uint32_t rows, uint32_t columns, float size) {
    std::normal_distribution<float> normal(0, size);
    Matrix made(size_t{rows} * columns);
    for (float &number : made) number = normal(random_);
    return made;
}

void Llama::rotate(std::vector<float> &heads, uint32_t position) const {
    for (size_t head = 0; head < heads.size(); head += shape.head_dim)
        for (uint32_t i = 0; i < shape.head_dim; i += 2) {
            const double angle =
                position * std::pow(500000.0, -static_cast<double>(i) / static_cast<double>(shape.head_dim));
            const float c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
            float &a = heads[head + i], &b = heads[head + i + 1];
            const float turned = a * c - b * s;
            b = a * s + b * c, a = turned;
        }
}

uint32_t Llama::step(uint32_t token, uint32_t position, const Attend &attend) {
    std::vector<float> x(embedding_.begin() + token * shape.width, embedding_.begin() + (token + 1) * shape.width);
    for (uint32_t i = 0; i < shape.layers; ++i) {
        const Layer &layer = layers_[i];
        const std::vector<float> normal = normed(x);
        std::vector<float> query = times(layer.query, normal), key = times(layer.key, normal),
                           value = times(layer.value, normal), mixed(query.size());
        rotate(query, position), rotate(key, position);
        attend(i, key.data(), value.data(), query.data(), mixed.data());
        add(x, times(layer.output, mixed));
        const std::vector<float> again = normed(x), gate = times(layer.gate, again);
        std::vector<float> up = times(layer.up, again);
        for (size_t j = 0; j < up.size(); ++j) up[j] *= gate[j] / (1 + std::exp(-gate[j]));
        add(x, times(layer.down, up));
    }
    const std::vector<float> logits = times(head_, normed(x));
    uint32_t best = 0;
    for (uint32_t i = 1; i < shape.vocabulary; ++i)
        if (logits[i] > logits[best]) best = i;
    return best;
}

} // namespace hbf::kv::testing
