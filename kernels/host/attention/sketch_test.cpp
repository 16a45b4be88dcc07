// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/catalogue.hpp"
#include "kernels/host/variants_test.hpp"
#include "model_test.hpp"
#include "sketch.hpp"

namespace hbf::kernels {
namespace {

using device::kv_block;
using device::kv_shape;
using device::sketch_shape;
using testing::bits_of;
using testing::Exact;
using testing::Model;

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> of_twin(const std::vector<uint8_t> &sketches, std::vector<kv_block> blocks, std::vector<float> query,
                           const device::sketch_score_arguments &arguments) {
    std::vector<float> result(3 * blocks.size() * arguments.shape.kv.query_heads, 12345.0f);
    const device::TwinBuffer buffers[] = {{const_cast<uint8_t *>(sketches.data()), sketches.size()},
                                          {blocks.data(), blocks.size() * sizeof(kv_block)},
                                          {query.data(), query.size() * 4},
                                          {result.data(), result.size() * 4}};
    const uint32_t groups[3] = {3, 1, 1}, items[3] = {5, 1, 1};
    device::run(*device::find("sketch_score/1"), buffers, &arguments, groups, items);
    return result;
}

std::vector<float> scores_of(const std::vector<uint8_t> &sketches, const std::vector<kv_block> &blocks,
                             const std::vector<float> &query, const sketch_shape &shape) {
    const device::sketch_score_arguments arguments{sketches.size(), shape, static_cast<uint32_t>(blocks.size()), 0};
    std::vector<float> result(3 * blocks.size() * shape.kv.query_heads, 12345.0f);
    sketch_score({sketches.data(), blocks.data(), query.data(), result.data()}, arguments);
    if (attention_is_fused()) {
        const auto twin = of_twin(sketches, blocks, query, arguments);
        EXPECT_EQ(memcmp(twin.data(), result.data(), 4 * result.size()), 0) << "not the bits of the kernel's twin";
    }
    return result;
}

std::vector<uint8_t> sketch_of(const Model &model, const sketch_shape &shape) {
    std::vector<uint8_t> sketch(device::sketch_block_size(shape), 0xEE);
    EXPECT_TRUE(sketch_make(shape, model.block.data(), model.tokens, sketch.data()));
    return sketch;
}

double number_at(const uint8_t *at, uint32_t element, size_t index) { // as stored
    if (element == HBF_ELEMENT_FP16) {
        uint16_t word;
        memcpy(&word, at + 2 * index, 2);
        return testing::from_fp16(word);
    }
    uint32_t word = 0;
    memcpy(&word, at + (element == HBF_ELEMENT_FP32 ? 4 : 2) * index, element == HBF_ELEMENT_FP32 ? 4 : 2);
    if (element == HBF_ELEMENT_BF16) word <<= 16;
    float value;
    memcpy(&value, &word, 4);
    return static_cast<double>(value);
}

// The layout, written out once more: every code stands for a number at most half a step from its key.
void expect_codes_near(const Model &model, const sketch_shape &shape, const std::vector<uint8_t> &sketch) {
    const uint32_t dim = shape.kv.head_dim, size = shape.kv.element == HBF_ELEMENT_FP32 ? 4 : 2, in_word = 32 / shape.bits;
    const size_t head_size = 2 * dim * size + shape.kv.block_tokens * dim * shape.bits / 8;
    for (uint32_t head = 0; head < shape.kv.kv_heads; ++head) {
        const uint8_t *const range = sketch.data() + head * head_size, *const codes = range + 2 * dim * size;
        for (uint32_t token = 0; token < model.tokens; ++token)
            for (uint32_t i = 0; i < dim; ++i) {
                uint32_t word;
                memcpy(&word, codes + 4 * ((token / 16 * (dim / in_word) + i / in_word) * 16 + token % 16), 4);
                const uint32_t code = word >> (i % in_word * shape.bits) & ((1u << shape.bits) - 1);
                const double step = number_at(range, shape.kv.element, dim + i);
                const double key = model.key_at(token, head * (shape.kv.query_heads / shape.kv.kv_heads), i);
                ASSERT_LE(std::fabs(number_at(range, shape.kv.element, i) + code * step - key), step / 2)
                    << "head " << head << " token " << token << " channel " << i;
            }
    }
}

// Score and bound against the definition, and against what attention itself computes.
void expect_bounds_hold(const Model &model, const sketch_shape &shape) {
    const auto sketch = sketch_of(model, shape);
    ASSERT_NO_FATAL_FAILURE(expect_codes_near(model, shape, sketch));
    const auto scores = scores_of(sketch, {{0, model.tokens, 0}}, model.query, shape);
    std::vector<float> state(2 * shape.kv.query_heads), output(shape.kv.query_heads * shape.kv.head_dim);
    const kv_block block{0, model.tokens, 0};
    attention({model.block.data(), &block, model.query.data(), state.data(), output.data()},
              {model.block.size(), shape.kv, 1, 0});
    for (uint32_t head = 0; head < shape.kv.query_heads; ++head) {
        const double m = static_cast<double>(scores[3 * head]), l = static_cast<double>(scores[3 * head + 1]),
                     e = static_cast<double>(scores[3 * head + 2]);
        const Exact exact({&model}, head, 0x1p-24);
        ASSERT_LE(std::fabs(m - exact.max), e) << head;
        ASSERT_LE(std::fabs(std::log(l) + m - std::log(exact.sum) - exact.max), e) << head;
        ASSERT_LE(std::fabs(m - static_cast<double>(state[2 * head])), e) << head;
        ASSERT_LE(std::fabs(std::log(l) + m - std::log(static_cast<double>(state[2 * head + 1])) -
                            static_cast<double>(state[2 * head])),
                  e)
            << head;
        double half_steps = 0, magnitude = 0, most = 0; // not larger than it has to be
        const uint32_t kv_head = head / (shape.kv.query_heads / shape.kv.kv_heads), dim = shape.kv.head_dim;
        const uint8_t *const range = sketch.data() + kv_head * device::sketch_head_size(shape);
        for (uint32_t i = 0; i < dim; ++i) {
            const double q = std::fabs(static_cast<double>(model.query[head * dim + i]));
            const double step = number_at(range, shape.kv.element, dim + i);
            half_steps += q * step / 2;
            most = std::max(most, q * step);
            magnitude += q * (std::fabs(number_at(range, shape.kv.element, i)) + ((1u << shape.bits) - 1) * step);
        }
        const double scale = std::fabs(static_cast<double>(shape.kv.scale));
        const double integers = most * 0x1p-13 / 2 * dim * ((1u << shape.bits) - 1);
        ASSERT_LE(e, scale * (half_steps + integers + (2 * dim + 64) * 0x1p-23 * magnitude) * 1.0001 + 0x1.001p-16);
    }
}

class Sketch : public testing::EachVariant {
protected:
    std::mt19937_64 random{7};
    std::normal_distribution<double> normal;

    template <class Key>
    Model model(const kv_shape &shape, uint32_t tokens, double query_size, const Key &key) {
        std::vector<float> query(size_t{shape.query_heads} * shape.head_dim);
        for (float &number : query) number = static_cast<float>(query_size * normal(random));
        return Model(shape, tokens, query, key, [](uint32_t, uint32_t, uint32_t) { return 1.0; });
    }
    static kv_shape shape_of(uint32_t query_heads, uint32_t kv_heads, uint32_t dim, uint32_t block_tokens,
                             uint32_t element) {
        return {query_heads, kv_heads, dim, block_tokens, element, 1.0f / std::sqrt(static_cast<float>(dim))};
    }
};
HBF_FOR_EACH_VARIANT(Sketch);

TEST_P(Sketch, BoundsHoldForEveryKind) {
    const auto gauss = [&](uint32_t, uint32_t, uint32_t) { return normal(random); };
    for (const uint32_t element : {HBF_ELEMENT_FP16, HBF_ELEMENT_BF16, HBF_ELEMENT_FP32})
        for (const uint32_t bits : {2u, 4u, 8u})
            for (const uint32_t dim : {64u, 80u, 96u, 128u, 256u}) {
                SCOPED_TRACE(::testing::Message() << "element " << element << " bits " << bits << " dim " << dim);
                const kv_shape shape = shape_of(4, 2, dim, 64, element);
                ASSERT_NO_FATAL_FAILURE(expect_bounds_hold(model(shape, 37, 1, gauss), {shape, bits, 0}));
            }
}

TEST_P(Sketch, EveryGroupingOfHeadsAndLength) {
    const auto gauss = [&](uint32_t, uint32_t, uint32_t) { return normal(random); };
    for (const uint32_t shared : {1u, 2u, 3u, 5u, 7u, 8u, 32u})
        for (const uint32_t tokens : {1u, 16u, 31u, 48u}) {
            SCOPED_TRACE(::testing::Message() << shared << " heads, " << tokens << " tokens");
            const kv_shape shape = shape_of(2 * shared, 2, 64, 48, HBF_ELEMENT_FP16);
            ASSERT_NO_FATAL_FAILURE(expect_bounds_hold(model(shape, tokens, 1, gauss), {shape, 4, 0}));
        }
}

// Channels with an offset, with an outlier, all alike, and scores so large that rounding is most of the bound.
TEST_P(Sketch, BoundsHoldForUnkindKeys) {
    for (const uint32_t element : {HBF_ELEMENT_FP16, HBF_ELEMENT_BF16, HBF_ELEMENT_FP32})
        for (const uint32_t bits : {2u, 4u}) {
            SCOPED_TRACE(::testing::Message() << "element " << element << " bits " << bits);
            const kv_shape shape = shape_of(2, 1, 128, 256, element);
            const sketch_shape sketch{shape, bits, 0};
            const auto offset = [&](uint32_t, uint32_t, uint32_t i) { return 100.0 * (i % 7) + 0.5 * normal(random); };
            ASSERT_NO_FATAL_FAILURE(expect_bounds_hold(model(shape, 256, 1, offset), sketch));
            const auto outlier = [&](uint32_t token, uint32_t, uint32_t i) {
                return (token == 3 && i % 5 == 0 ? -900 : 1) * normal(random);
            };
            ASSERT_NO_FATAL_FAILURE(expect_bounds_hold(model(shape, 250, 0.01, outlier), sketch));
            const auto alike = [&](uint32_t, uint32_t, uint32_t) { return 0.3; };
            ASSERT_NO_FATAL_FAILURE(expect_bounds_hold(model(shape, 20, 1, alike), sketch));
            const auto tiny = [&](uint32_t, uint32_t, uint32_t) { return 1e-7 * normal(random); };
            ASSERT_NO_FATAL_FAILURE(expect_bounds_hold(model(shape, 20, 1, tiny), sketch));
            const auto large = [&](uint32_t token, uint32_t, uint32_t) { return token % 2 ? 60000.0 : -60000.0; };
            ASSERT_NO_FATAL_FAILURE(expect_bounds_hold(model(shape, 20, 100, large), sketch));
        }
}

// Every channel of the token that counts lies in the middle between two codes, all to the same side: no bound is smaller.
TEST_P(Sketch, TheBoundIsReached) {
    const kv_shape shape = shape_of(1, 1, 128, 16, HBF_ELEMENT_FP16);
    const Model model(
        shape, 3, std::vector<float>(128, 1.0f),
        [](uint32_t token, uint32_t, uint32_t i) { return token == 2       ? 14.5
                                                          : token == i % 2 ? 15.0
                                                                           : 0.0; },
        [](uint32_t, uint32_t, uint32_t) { return 1.0; });
    const sketch_shape four_bits{shape, 4, 0};
    ASSERT_NO_FATAL_FAILURE(expect_bounds_hold(model, four_bits));
    const auto scores = scores_of(sketch_of(model, four_bits), {{0, 3, 0}}, model.query, four_bits);
    const double wrong = std::fabs(static_cast<double>(scores[0]) - 14.5 * 128 * static_cast<double>(shape.scale));
    EXPECT_GT(wrong, 0.98 * static_cast<double>(scores[2]));
}

TEST_P(Sketch, WhatCannotBeKnownIsPossible) {
    const kv_shape shape = shape_of(4, 2, 64, 32, HBF_ELEMENT_FP16);
    const sketch_shape four_bits{shape, 4, 0};
    const auto unknown = [](const std::vector<float> &scores, size_t at) {
        return scores[3 * at] == infinity && scores[3 * at + 1] == 1 && scores[3 * at + 2] == infinity;
    };
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        Model model = this->model(shape, 20, 1, [&](uint32_t token, uint32_t head, uint32_t i) {
            return token == 9 && head == 0 && i == 50 ? bad : normal(random);
        });
        const auto sketch = sketch_of(model, four_bits);
        const auto scores = scores_of(sketch, {{0, 20, 0}}, model.query, four_bits);
        EXPECT_TRUE(unknown(scores, 0) && unknown(scores, 1));
        EXPECT_FALSE(unknown(scores, 2) || unknown(scores, 3));
        model.query[50] = 0; // 0 times infinity is no reason to trust it
        model.query[3 * 64] = static_cast<float>(bad);
        const auto with_query = scores_of(sketch, {{0, 20, 0}}, model.query, four_bits);
        EXPECT_TRUE(unknown(with_query, 0) && unknown(with_query, 3));
        EXPECT_FALSE(unknown(with_query, 2));
    }
    const kv_shape wide = shape_of(4, 2, 64, 32, HBF_ELEMENT_FP32); // finite, but not their products
    const Model overflow = model(wide, 20, 1e20, [&](uint32_t, uint32_t, uint32_t) { return 1e25 * normal(random); });
    const sketch_shape of_wide{wide, 4, 0};
    const auto scores = scores_of(sketch_of(overflow, of_wide), {{0, 20, 0}}, overflow.query, of_wide);
    for (size_t head = 0; head < 4; ++head) EXPECT_TRUE(unknown(scores, head));
}

TEST_P(Sketch, EmptyBlocksAndEntriesThatDoNotFit) {
    const kv_shape shape = shape_of(2, 1, 64, 16, HBF_ELEMENT_FP16);
    const sketch_shape four_bits{shape, 4, 0};
    const Model model = this->model(shape, 16, 1, [&](uint32_t, uint32_t, uint32_t) { return normal(random); });
    const auto sketch = sketch_of(model, four_bits);
    const std::vector<kv_block> blocks = {{0, 0, 0}, {8, 16, 0}, {0, 17, 0}, {4, 1, 0}, {0, 16, 0}};
    const auto scores = scores_of(sketch, blocks, model.query, four_bits);
    for (const size_t head : {0u, 1u}) {
        EXPECT_EQ(scores[3 * head], -infinity);
        EXPECT_EQ(scores[3 * head + 1], 0.0f);
        EXPECT_EQ(scores[3 * head + 2], 0.0f);
    }
    for (size_t b = 1; b < 4; ++b) EXPECT_EQ(scores[3 * (2 * b + 1) + 2], infinity) << b;
    EXPECT_EQ(scores[3 * 9], scores_of(sketch, {{0, 16, 0}}, model.query, four_bits)[3]);
}

TEST_P(Sketch, RefusedShapesDoNothing) {
    const sketch_shape good{shape_of(2, 1, 64, 16, HBF_ELEMENT_FP16), 4, 0};
    EXPECT_EQ(sketch_refused(good), nullptr);
    sketch_shape three = good, heads = good;
    three.bits = 3, heads.kv.query_heads = 0;
    std::vector<uint8_t> room(device::sketch_block_size(good), 9), block(device::kv_block_size(good.kv)), before = room;
    for (const sketch_shape &bad : {three, heads}) {
        EXPECT_NE(sketch_refused(bad), nullptr);
        EXPECT_FALSE(sketch_make(bad, block.data(), 1, room.data()));
        const device::sketch_score_arguments arguments{room.size(), bad, 1, 0};
        const kv_block entry{0, 16, 0};
        float result[6] = {7, 7, 7, 7, 7, 7};
        const std::vector<float> query(128);
        sketch_score({room.data(), &entry, query.data(), result}, arguments);
        for (const float number : result) EXPECT_EQ(number, 7.0f);
    }
    EXPECT_FALSE(sketch_make(good, block.data(), 17, room.data()));
    EXPECT_TRUE(room == before);
}

} // namespace
} // namespace hbf::kernels
