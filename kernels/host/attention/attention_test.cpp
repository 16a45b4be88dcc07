// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "kernels/device/catalogue.hpp"
#include "kernels/host/variants_test.hpp"
#include "model_test.hpp"

namespace hbf::kernels {
namespace {

using device::attention_arguments;
using device::kv_block;
using device::kv_shape;
using testing::bits_of;
using testing::Exact;
using testing::Model;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_written = 12345.0f;

struct Partial {
    std::vector<float> state, output;
    explicit Partial(const kv_shape &shape, size_t blocks = 1)
        : state(2 * blocks * shape.query_heads, not_written),
          output(blocks * shape.query_heads * shape.head_dim, not_written) {}
    bool operator==(const Partial &other) const {
        return memcmp(state.data(), other.state.data(), 4 * state.size()) == 0 &&
               memcmp(output.data(), other.output.data(), 4 * output.size()) == 0;
    }
};

Partial of_twin(const std::vector<uint8_t> &kv, std::vector<kv_block> blocks, std::vector<float> query,
                const attention_arguments &arguments, uint32_t groups, uint32_t items) {
    Partial result(arguments.shape, blocks.size());
    const device::TwinBuffer buffers[] = {{const_cast<uint8_t *>(kv.data()), kv.size()},
                                          {blocks.data(), blocks.size() * sizeof(kv_block)},
                                          {query.data(), query.size() * 4},
                                          {result.state.data(), result.state.size() * 4},
                                          {result.output.data(), result.output.size() * 4}};
    const uint32_t grid[3] = {groups, 1, 1}, size[3] = {items, 1, 1};
    device::run(*device::find("attention/1"), buffers, &arguments, grid, size);
    return result;
}

// On the host, and where arithmetic is the same compared with the kernel's twin.
Partial partial_of(const std::vector<uint8_t> &kv, const std::vector<kv_block> &blocks, const std::vector<float> &query,
                   const attention_arguments &arguments) {
    Partial result(arguments.shape, blocks.size());
    attention({kv.data(), blocks.data(), query.data(), result.state.data(), result.output.data()}, arguments);
    if (attention_is_fused()) {
        EXPECT_TRUE(result == of_twin(kv, blocks, query, arguments, 3, 5)) << "not the bits of the kernel's twin";
    }
    return result;
}

Partial partial_of(const Model &model) {
    return partial_of(model.block, {{0, model.tokens, 0}}, model.query, {model.block.size(), model.shape, 1, 0});
}

double unit() {
    return attention_is_fused() ? 0x1p-24 : 0x1p-23;
}

// Every head of a result against its definition.
void expect_near(const Partial &partial, const std::vector<const Model *> &blocks) {
    const kv_shape &shape = blocks[0]->shape;
    uint32_t terms = 0;
    for (const Model *block : blocks) terms += block->tokens;
    for (uint32_t head = 0; head < shape.query_heads; ++head) {
        const Exact exact(blocks, head, unit());
        const double error = exact.relative_error(terms, unit()) * exact.sum;
        const double max = static_cast<double>(partial.state[2 * head]),
                     l = static_cast<double>(partial.state[2 * head + 1]);
        ASSERT_NEAR(max, exact.max, exact.score_error) << head;
        const double moved = std::exp(max - exact.max);
        ASSERT_NEAR(l * moved, exact.sum, error) << head;
        for (uint32_t i = 0; i < shape.head_dim; ++i)
            ASSERT_NEAR(static_cast<double>(partial.output[head * shape.head_dim + i]) * moved, exact.output[i],
                        error * exact.largest_value)
                << "head " << head << " channel " << i;
    }
}

kv_shape shape_of(uint32_t query_heads, uint32_t kv_heads, uint32_t dim, uint32_t block_tokens, uint32_t element) {
    return {query_heads, kv_heads, dim, block_tokens, element, 1.0f / std::sqrt(static_cast<float>(dim))};
}

class Attention : public testing::EachVariant {
protected:
    std::mt19937_64 random{42};
    std::normal_distribution<double> normal;

    std::vector<float> question(const kv_shape &shape, double size = 1) {
        std::vector<float> query(size_t{shape.query_heads} * shape.head_dim);
        for (float &number : query) number = static_cast<float>(size * normal(random));
        return query;
    }
    Model gauss(const kv_shape &shape, uint32_t tokens, double size = 1) {
        const auto number = [&](uint32_t, uint32_t, uint32_t) { return size * normal(random); };
        return Model(shape, tokens, question(shape, size), number, number);
    }
};
HBF_FOR_EACH_VARIANT(Attention);

TEST_P(Attention, EveryDimensionElementAndLength) {
    for (const uint32_t element : {HBF_ELEMENT_FP16, HBF_ELEMENT_BF16, HBF_ELEMENT_FP32})
        for (const uint32_t dim : {16u, 64u, 80u, 96u, 128u, 256u})
            for (const uint32_t tokens : {1u, 15u, 16u, 33u, 64u}) {
                SCOPED_TRACE(::testing::Message() << "element " << element << " dim " << dim << " tokens " << tokens);
                const Model model = gauss(shape_of(5, 1, dim, 64, element), tokens);
                ASSERT_NO_FATAL_FAILURE(expect_near(partial_of(model), {&model}));
            }
}

TEST_P(Attention, EveryGroupingOfHeads) {
    for (uint32_t shared = 1; shared <= 32; ++shared) {
        SCOPED_TRACE(shared);
        const Model model = gauss(shape_of(2 * shared, 2, 64, 32, HBF_ELEMENT_FP16), 21);
        ASSERT_NO_FATAL_FAILURE(expect_near(partial_of(model), {&model}));
    }
}

TEST_P(Attention, PeakedLongTailedAndLargestBlocks) {
    const kv_shape shape = shape_of(8, 2, 128, 256, HBF_ELEMENT_FP16);
    const Model random_model = gauss(shape, 256);
    ASSERT_NO_FATAL_FAILURE(expect_near(partial_of(random_model), {&random_model}));

    const auto query = question(shape);
    const auto value = [&](uint32_t, uint32_t, uint32_t) { return normal(random); };
    const Model peaked(
        shape, 250, query,
        [&](uint32_t token, uint32_t head, uint32_t i) { // one token is what the query looks for
            return token == 77 ? 8.0 * static_cast<double>(query[head * 4 * 128 + i]) : normal(random);
        },
        value);
    const Partial result = partial_of(peaked);
    ASSERT_NO_FATAL_FAILURE(expect_near(result, {&peaked}));
    EXPECT_LT(result.state[1], 1.001f); // nearly all weight on one token
    EXPECT_NEAR(static_cast<double>(result.output[5]), peaked.value_at(77, 0, 5), 0.01);

    const auto tail = [&](uint32_t, uint32_t, uint32_t) {
        return normal(random) / std::max(0.05, std::fabs(normal(random)));
    };
    const Model long_tailed(shape, 199, query, tail, tail);
    ASSERT_NO_FATAL_FAILURE(expect_near(partial_of(long_tailed), {&long_tailed}));
}

// Weights from 1 down to where they are 0, and scores whose rounding is as large as they are allowed to be.
TEST_P(Attention, LargeAndSmallMagnitudes) {
    for (const uint32_t element : {HBF_ELEMENT_FP16, HBF_ELEMENT_BF16, HBF_ELEMENT_FP32})
        for (const double size : {1e-7, 1e-3, 8.0, 60.0}) {
            SCOPED_TRACE(::testing::Message() << "element " << element << " size " << size);
            const Model model = gauss(shape_of(4, 1, 128, 96, element), 90, size);
            ASSERT_NO_FATAL_FAILURE(expect_near(partial_of(model), {&model}));
        }
    // The largest that fp16 holds: scores of 5e11, exact powers of two apart
    const kv_shape shape = shape_of(4, 1, 64, 16, HBF_ELEMENT_FP16);
    const Model large(
        shape, 16, std::vector<float>(4 * 64, 32768.0f),
        [](uint32_t token, uint32_t, uint32_t) { return token == 3 ? 65504.0 : -65504.0; },
        [](uint32_t token, uint32_t, uint32_t i) { return token == 3 ? 1.0 + i : 65504.0; });
    const Partial result = partial_of(large);
    EXPECT_EQ(result.state[0], 65504.0f * 32768.0f * 8.0f);
    EXPECT_EQ(result.state[1], 1.0f);
    EXPECT_EQ(result.output[5], 6.0f);
}

TEST_P(Attention, BlocksWithoutTokensAndWithOne) {
    const kv_shape shape = shape_of(6, 2, 64, 16, HBF_ELEMENT_BF16);
    const Partial empty = partial_of(gauss(shape, 0));
    for (uint32_t head = 0; head < 6; ++head) {
        EXPECT_EQ(empty.state[2 * head], -infinity);
        EXPECT_EQ(bits_of(empty.state[2 * head + 1]), 0u);
    }
    for (const float number : empty.output) EXPECT_EQ(bits_of(number), 0u);

    const Model one = gauss(shape, 1);
    const Partial result = partial_of(one);
    for (uint32_t head = 0; head < 6; ++head) {
        EXPECT_EQ(result.state[2 * head + 1], 1.0f);
        for (uint32_t i = 0; i < 64; ++i)
            EXPECT_EQ(static_cast<double>(result.output[head * 64 + i]), one.value_at(0, head, i));
    }
}

// What NaN and infinity do, and that they do it to nobody else.
TEST_P(Attention, NanAndInfinity) {
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    for (const uint32_t element : {HBF_ELEMENT_FP16, HBF_ELEMENT_BF16, HBF_ELEMENT_FP32}) {
        const kv_shape shape = shape_of(4, 2, 64, 32, element);
        std::vector<float> query(4 * 64, 1.0f);
        const auto with = [&](double key, double value, uint32_t at = 17) {
            return partial_of(Model(
                shape, 20, query,
                [&](uint32_t token, uint32_t head, uint32_t i) { return token == at && head == 0 && i == 33 ? key : 0.25; },
                [&](uint32_t token, uint32_t head, uint32_t i) {
                    return token == at && head == 0 && i == 7 ? value : 2.0;
                }));
        };
        const auto all_nan = [&](const Partial &partial, uint32_t head) {
            bool all = bits_of(partial.state[2 * head]) == 0x7fc00000 && bits_of(partial.state[2 * head + 1]) == 0x7fc00000;
            for (uint32_t i = 0; i < 64; ++i) all = all && bits_of(partial.output[head * 64 + i]) == 0x7fc00000;
            return all;
        };
        for (const double bad : {nan, inf}) {
            const Partial poisoned = with(bad, 2);
            for (const uint32_t head : {0u, 1u}) EXPECT_TRUE(all_nan(poisoned, head));
            for (const uint32_t head : {2u, 3u}) EXPECT_EQ(poisoned.output[head * 64 + 7], 40.0f);
        }
        const Partial masked = with(-inf, 1000); // a score of -infinity has no weight
        EXPECT_EQ(masked.state[1], 19.0f);
        EXPECT_EQ(masked.output[7], 38.0f);
        const Partial value = with(0.25, inf);
        EXPECT_EQ(value.output[7], infinity);
        EXPECT_EQ(value.output[8], 40.0f);
        EXPECT_EQ(value.state[1], 20.0f);
        EXPECT_EQ(bits_of(with(0.25, nan).output[7]), 0x7fc00000u);
        EXPECT_EQ(bits_of(with(-inf, inf).output[7]), 0x7fc00000u); // 0 times infinity
        query[3] = -infinity;                                       // all scores of this head: -infinity
        const Partial nothing = with(0.25, 2);
        EXPECT_EQ(nothing.state[0], -infinity);
        EXPECT_EQ(nothing.state[1], 0.0f);
        EXPECT_EQ(bits_of(nothing.output[7]), 0u);
        EXPECT_EQ(nothing.state[3], 20.0f);
    }
}

// Many blocks in one call, some not there, merged: attention over all.
TEST_P(Attention, BlocksMergeExactly) {
    const kv_shape shape = shape_of(6, 2, 80, 32, HBF_ELEMENT_FP16);
    std::vector<Model> models;
    const auto query = question(shape, 3);
    for (const uint32_t tokens : {32u, 0u, 1u, 17u, 32u, 31u}) {
        const auto number = [&](uint32_t, uint32_t, uint32_t) { return normal(random); };
        models.emplace_back(shape, tokens, query, number, number);
    }
    std::vector<uint8_t> kv;
    std::vector<kv_block> blocks;
    std::vector<const Model *> all;
    for (const Model &model : models) {
        kv.resize((kv.size() + 63) / 64 * 64 + 8); // anywhere that is a multiple of 8
        blocks.push_back({kv.size(), model.tokens, 0});
        kv.insert(kv.end(), model.block.begin(), model.block.end());
        all.push_back(&model);
    }
    const Partial parts = partial_of(kv, blocks, query, {kv.size(), shape, static_cast<uint32_t>(blocks.size()), 0});
    for (size_t b = 0; b < models.size(); ++b) // each as when it is alone
        EXPECT_EQ(memcmp(partial_of(models[b]).output.data(), &parts.output[b * 480], 4 * 480), 0);

    const auto merge = [&](uint32_t first, uint32_t count, const Partial &of) {
        Partial merged(shape);
        const device::attention_merge_arguments arguments{count, 6, 80, 0};
        attention_merge(&of.state[first * 12], &of.output[first * 480], merged.state.data(), merged.output.data(),
                        arguments);
        Partial twin(shape), from = of;
        const device::TwinBuffer buffers[] = {{&from.state[first * 12], count * 48},
                                              {&from.output[first * 480], count * 1920},
                                              {twin.state.data(), 48},
                                              {twin.output.data(), 1920}};
        const uint32_t groups[3] = {2, 1, 1}, size[3] = {7, 1, 1};
        device::run(*device::find("attention_merge/1"), buffers, &arguments, groups, size);
        if (attention_is_fused()) {
            EXPECT_TRUE(merged == twin);
        }
        return merged;
    };
    Partial whole = merge(0, 6, parts);
    ASSERT_NO_FATAL_FAILURE(expect_near(whole, all));
    float unwritten[2] = {not_written, not_written};
    attention_merge(parts.state.data(), parts.output.data(), unwritten, unwritten, {1, 1, 24, 0}); // no such head_dim
    EXPECT_EQ(unwritten[0], not_written);
    EXPECT_TRUE(merge(0, 1, parts).output[3] == parts.output[3]); // one alone is itself
    EXPECT_EQ(merge(1, 1, parts).state[0], -infinity);            // and an empty one empty

    // In two steps: within the same bound, for a merge is again a block's result
    Partial halves(shape, 2);
    for (const uint32_t half : {0u, 1u}) {
        const Partial of_half = merge(3 * half, 3, parts);
        std::copy(of_half.state.begin(), of_half.state.end(), &halves.state[half * 12]);
        std::copy(of_half.output.begin(), of_half.output.end(), &halves.output[half * 480]);
    }
    ASSERT_NO_FATAL_FAILURE(expect_near(merge(0, 2, halves), all));

    attention_finish(whole.state.data(), whole.output.data(), 6, 80);
    const Exact exact(all, 4, unit());
    EXPECT_NEAR(static_cast<double>(whole.output[4 * 80 + 9]), exact.output[9] / exact.sum, 1e-5);

    Partial bad = parts; // NaN stays: in its head only
    bad.state[12 + 2] = std::numeric_limits<float>::quiet_NaN();
    const Partial poisoned = merge(0, 6, bad);
    EXPECT_EQ(bits_of(poisoned.state[2]), 0x7fc00000u);
    EXPECT_EQ(bits_of(poisoned.output[80]), 0x7fc00000u);
    EXPECT_EQ(poisoned.state[0], merge(0, 6, parts).state[0]);
}

TEST_P(Attention, NothingIsReadOutsideOfTheBlocks) {
    const kv_shape shape = shape_of(4, 1, 64, 16, HBF_ELEMENT_FP16);
    const Model model = gauss(shape, 16);
    const testing::Guarded room(model.block.size());
    memcpy(room.end() - model.block.size(), model.block.data(), model.block.size());
    const kv_block block{0, 16, 0};
    Partial result(shape);
    attention({room.end() - model.block.size(), &block, model.query.data(), result.state.data(), result.output.data()},
              {model.block.size(), shape, 1, 0});
    ASSERT_NO_FATAL_FAILURE(expect_near(result, {&model}));
}

TEST_P(Attention, EntriesThatDoNotFitAreNanAndNotRead) {
    const kv_shape shape = shape_of(2, 1, 64, 16, HBF_ELEMENT_FP16);
    const Model model = gauss(shape, 16);
    const uint64_t size = model.block.size();
    const std::vector<kv_block> blocks = {{8, 16, 0},   {4, 16, 0}, {0, 17, 0}, {~uint64_t{0} - 7, 16, 0},
                                          {size, 1, 0}, {0, 16, 0}};
    const Partial result = partial_of(model.block, blocks, model.query, {size, shape, 6, 0});
    for (size_t b = 0; b < 5; ++b) EXPECT_EQ(bits_of(result.output[b * 128 + 77]), 0x7fc00000u) << b;
    EXPECT_EQ(result.output[5 * 128 + 77], partial_of(model).output[77]);
}

TEST_P(Attention, RefusedShapesWriteNothing) {
    const Model model = gauss(shape_of(4, 2, 64, 16, HBF_ELEMENT_FP16), 16);
    std::vector<kv_shape> bad(7, model.shape);
    bad[0].query_heads = 3, bad[1].kv_heads = 0, bad[2].head_dim = 65, bad[3].head_dim = 272, bad[4].block_tokens = 24;
    bad[5].block_tokens = 272, bad[6].element = 3;
    const kv_block block{0, 16, 0};
    EXPECT_EQ(attention_refused(model.shape), nullptr);
    std::vector<uint8_t> room(model.block.size(), 7), before = room;
    for (const kv_shape &shape : bad) {
        EXPECT_NE(attention_refused(shape), nullptr);
        Partial result(model.shape), untouched = result;
        attention({model.block.data(), &block, model.query.data(), result.state.data(), result.output.data()},
                  {model.block.size(), shape, 1, 0});
        EXPECT_TRUE(result == untouched);
        EXPECT_TRUE(of_twin(model.block, {block}, model.query, {model.block.size(), shape, 1, 0}, 1, 1).state[0] ==
                    not_written);
        EXPECT_FALSE(attention_pack(shape, model.keys.data(), model.values.data(), 0, 1, room.data()));
    }
    EXPECT_FALSE(attention_pack(model.shape, model.keys.data(), model.values.data(), 1, 16, room.data()));
    EXPECT_TRUE(room == before);
}

} // namespace
} // namespace hbf::kernels
