// SPDX-License-Identifier: Apache-2.0
// For tests of attention: a sequence of keys and values, cut into blocks of any size, and attention over it by its
// definition, in fp64.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/attention/block_runner.hpp"
#include "core/engine/attention/key_index.hpp"
#include "kernels/host/attention/model_test.hpp"

namespace hbf::kv::testing {

template <class T>
T must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}
inline void must(const Result<> &result) {
    if (!result) throw std::runtime_error(result.error().message);
}

// A layout: all tokens in blocks of one size, the last as full as it is.
struct Blocks {
    kv_shape shape;
    std::vector<uint8_t> bytes;
    std::vector<Block> list; // all in place 0
    std::vector<kv_block> plain() const {
        std::vector<kv_block> out;
        for (const Block &block : list) out.push_back(block.at);
        return out;
    }
};

class Sequence {
public:
    Sequence(uint32_t query_heads, uint32_t kv_heads, uint32_t dim, uint32_t element)
        : shape{query_heads, kv_heads, dim, 16, element, 1 / std::sqrt(static_cast<float>(dim))} {}

    kv_shape shape;
    uint32_t tokens() const { return static_cast<uint32_t>(key_.size() / row()); }
    size_t row() const { return size_t{shape.kv_heads} * shape.head_dim; }

    // A token's keys and values, kv_heads * head_dim numbers each, rounded as they are stored.
    template <class Number>
    void append(const Number *key, const Number *value) {
        for (size_t i = 0; i < row(); ++i) add(static_cast<double>(key[i]), keys_, key_);
        for (size_t i = 0; i < row(); ++i) add(static_cast<double>(value[i]), values_, value_);
    }
    template <class Random>
    void append_random(uint32_t tokens, Random &random, double of_keys = 1, double of_values = 1) {
        std::normal_distribution<double> normal;
        std::vector<double> key(row()), value(row());
        for (uint32_t token = 0; token < tokens; ++token) {
            for (double &number : key) number = of_keys * normal(random);
            for (double &number : value) number = of_values * normal(random);
            append(key.data(), value.data());
        }
    }

    Blocks blocks(uint32_t block_tokens) const {
        Blocks out{shape, {}, {}};
        out.shape.block_tokens = block_tokens;
        const size_t size = kernels::device::kv_block_size(out.shape),
                     stored = kernels::device::hbf_element_size(shape.element);
        const uint32_t count = (tokens() + block_tokens - 1) / block_tokens;
        out.bytes.assign(count * size, 0xff); // NaN where no token is
        for (uint32_t b = 0; b < count; ++b) {
            const uint32_t first = b * block_tokens, here = std::min(block_tokens, tokens() - first);
            if (!kernels::attention_pack(out.shape, keys_.data() + first * row() * stored,
                                         values_.data() + first * row() * stored, 0, here, out.bytes.data() + b * size))
                throw std::runtime_error("pack");
            out.list.push_back({{b * size, here, 0}, 0});
        }
        return out;
    }

    // Of one query head over the first `seen` tokens.
    std::vector<double> attend(const float *query, uint32_t head, uint32_t seen) const {
        const uint32_t dim = shape.head_dim, kv_head = head / (shape.query_heads / shape.kv_heads);
        std::vector<double> score(seen), out(dim, 0.0);
        double most = -HUGE_VAL, sum = 0;
        for (uint32_t token = 0; token < seen; ++token) {
            double product = 0;
            for (uint32_t i = 0; i < dim; ++i)
                product += static_cast<double>(query[head * dim + i]) * key_[token * row() + kv_head * dim + i];
            score[token] = product * static_cast<double>(shape.scale);
            most = std::max(most, score[token]);
        }
        for (uint32_t token = 0; token < seen; ++token) {
            const double weight = std::exp(score[token] - most);
            sum += weight;
            for (uint32_t i = 0; i < dim; ++i) out[i] += weight * value_[token * row() + kv_head * dim + i];
        }
        for (double &number : out) number /= sum;
        return out;
    }

private:
    void add(double number, std::vector<uint8_t> &bytes, std::vector<double> &exact) const {
        namespace kt = kernels::testing;
        const float narrow = static_cast<float>(number);
        if (shape.element == HBF_ELEMENT_FP32) {
            put(bytes, &narrow, 4), exact.push_back(static_cast<double>(narrow));
        } else if (shape.element == HBF_ELEMENT_FP16) {
            const uint16_t word = kt::to_fp16(number);
            put(bytes, &word, 2), exact.push_back(kt::from_fp16(word));
        } else {
            const uint32_t word = kt::bits_of(narrow) & 0xffff0000u;
            float kept;
            std::memcpy(&kept, &word, 4);
            put(bytes, reinterpret_cast<const uint8_t *>(&word) + 2, 2), exact.push_back(static_cast<double>(kept));
        }
    }
    static void put(std::vector<uint8_t> &bytes, const void *from, size_t size) {
        const auto *const first = static_cast<const uint8_t *>(from);
        bytes.insert(bytes.end(), first, first + size);
    }

    std::vector<uint8_t> keys_, values_;
    std::vector<double> key_, value_;
};

template <class Random>
std::vector<float> random_query(const kv_shape &shape, uint32_t tokens, Random &random, double size = 1) {
    std::normal_distribution<double> normal;
    std::vector<float> query(size_t{tokens} * shape.query_heads * shape.head_dim);
    for (float &number : query) number = static_cast<float>(size * normal(random));
    return query;
}

// Euclidean distance, in parts of the exact one's length.
inline double relative_error(const float *output, const std::vector<double> &exact) {
    double error = 0, size = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
        error += (static_cast<double>(output[i]) - exact[i]) * (static_cast<double>(output[i]) - exact[i]);
        size += exact[i] * exact[i];
    }
    return std::sqrt(error / size);
}

inline KeyIndex index_of(const Blocks &blocks, uint32_t bits) {
    KeyIndex index = must(KeyIndex::make({blocks.shape, bits, 0}));
    for (uint32_t b = 0; b < blocks.list.size(); ++b) {
        const auto &at = blocks.list[b].at;
        must(index.add_tokens(b, blocks.bytes.data() + at.offset, 0, at.tokens));
        if (at.tokens == blocks.shape.block_tokens) must(index.add_sketch(b, blocks.bytes.data() + at.offset));
    }
    return index;
}

} // namespace hbf::kv::testing
