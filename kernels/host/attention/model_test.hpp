// SPDX-License-Identifier: Apache-2.0
// For tests of attention: keys and values of many kinds, and what attention is by its definition, in fp64.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "attention.hpp"

namespace hbf::kernels::testing {

inline uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline uint16_t to_fp16(double value) { // to nearest, by search: shares nothing with the code under test
    if (std::isnan(value)) return 0x7e00;
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (magnitude >= 65520) return sign | 0x7c00;
    const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
    const auto scaled = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent))); // with the hidden bit
    return static_cast<uint16_t>(sign | (scaled + (static_cast<uint32_t>(exponent + 14) << 10)));
}
inline double from_fp16(uint16_t word) {
    const int exponent = word >> 10 & 31, fraction = word & 1023;
    const double sign = word & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

// One block, row-major, with its numbers as stored and as they are.
struct Model {
    device::kv_shape shape;
    uint32_t tokens;
    std::vector<uint8_t> keys, values; // rows of stored numbers
    std::vector<double> key, value;    // the same, exactly
    std::vector<float> query;
    std::vector<uint8_t> block;

    void store(std::vector<uint8_t> &bytes, std::vector<double> &numbers, size_t at, double number) const {
        const uint32_t size = device::hbf_element_size(shape.element);
        if (shape.element == HBF_ELEMENT_FP16) {
            const uint16_t word = to_fp16(number);
            std::memcpy(&bytes[at * size], &word, size);
            numbers[at] = from_fp16(word);
            return;
        }
        float narrow = static_cast<float>(number);
        if (shape.element == HBF_ELEMENT_BF16) {
            const uint32_t word = bits_of(narrow) & 0xffff0000u;
            std::memcpy(&narrow, &word, sizeof word);
            std::memcpy(&bytes[at * size], reinterpret_cast<const uint8_t *>(&word) + 2, size); // little-endian
        } else {
            std::memcpy(&bytes[at * size], &narrow, size);
        }
        numbers[at] = static_cast<double>(narrow);
    }

    // Numbers of token, KV head, channel.
    template <class Key, class Value>
    Model(const device::kv_shape &of, uint32_t count, const std::vector<float> &question, const Key &make_key,
          const Value &make_value)
        : shape(of), tokens(count), query(question) {
        const size_t numbers = size_t{tokens} * shape.kv_heads * shape.head_dim;
        const uint32_t size = device::hbf_element_size(shape.element);
        keys.resize(numbers * size), values.resize(numbers * size), key.resize(numbers), value.resize(numbers);
        size_t at = 0;
        for (uint32_t token = 0; token < tokens; ++token)
            for (uint32_t head = 0; head < shape.kv_heads; ++head)
                for (uint32_t channel = 0; channel < shape.head_dim; ++channel, ++at) {
                    store(keys, key, at, make_key(token, head, channel));
                    store(values, value, at, make_value(token, head, channel));
                }
        block.assign(device::kv_block_size(shape), 0xFF); // NaN where no token is
        if (!attention_pack(shape, keys.data(), values.data(), 0, tokens, block.data())) std::abort();
    }

    double key_at(uint32_t token, uint32_t query_head, uint32_t channel) const {
        return key[row(token, query_head) + channel];
    }
    double value_at(uint32_t token, uint32_t query_head, uint32_t channel) const {
        return value[row(token, query_head) + channel];
    }
    size_t row(uint32_t token, uint32_t query_head) const {
        return (size_t{token} * shape.kv_heads + query_head / (shape.query_heads / shape.kv_heads)) * shape.head_dim;
    }
};

// Attention of one query head over blocks, and how far fp32 may be from it.
struct Exact {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    std::vector<double> output; // not divided
    double score_error = 0;     // of any score
    double largest_value = 0;

    // `unit`: what one operation rounds, 2^-24 where multiplication and addition are fused, else 2^-23.
    Exact(const std::vector<const Model *> &blocks, uint32_t head, double unit) {
        std::vector<std::vector<double>> scores;
        for (const Model *model : blocks) {
            auto &of_block = scores.emplace_back();
            const uint32_t dim = model->shape.head_dim;
            output.resize(dim);
            for (uint32_t token = 0; token < model->tokens; ++token) {
                double score = 0, magnitude = 0;
                for (uint32_t i = 0; i < dim; ++i) {
                    const double product = static_cast<double>(model->query[head * dim + i]) * model->key_at(token, head, i);
                    score += product, magnitude += std::fabs(product);
                }
                const double scale = std::fabs(static_cast<double>(model->shape.scale));
                score_error = std::max(score_error, (dim / 2 + 2) * unit * magnitude * scale * 1.001);
                of_block.push_back(score * static_cast<double>(model->shape.scale));
                max = std::max(max, of_block.back());
            }
        }
        for (size_t b = 0; b < blocks.size(); ++b)
            for (uint32_t token = 0; token < blocks[b]->tokens; ++token) {
                const double weight = std::exp(scores[b][token] - max);
                sum += weight;
                for (uint32_t i = 0; i < output.size(); ++i) {
                    output[i] += weight * blocks[b]->value_at(token, head, i);
                    largest_value = std::max(largest_value, std::fabs(blocks[b]->value_at(token, head, i)));
                }
            }
    }

    // Of sum * exp(max - own max) relative to what it should be; twice that for output / sum.
    double relative_error(uint32_t terms, double unit) const {
        return std::expm1(score_error) + (terms + 40) * unit + 87 * 0x1p-24 * 4; // exp of what rounds once near -87
    }
};

} // namespace hbf::kernels::testing
