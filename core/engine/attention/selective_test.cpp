// SPDX-License-Identifier: Apache-2.0
// Selective attention: its certificate held against fp64 at every step, targets kept, needles found, and all that is read
// counted.
#include <cstdlib>

#include "core/engine/attention/exact.hpp"
#include "core/engine/attention/memory_place.hpp"
#include "core/engine/attention/selective.hpp"
#include "core/engine/attention/testing/scene.hpp"
#include "core/engine/attention/testing/sequence.hpp"
#include "core/fabric/testing/allocations.hpp"

namespace hbf::kv {
namespace {

using testing::Blocks;
using testing::index_of;
using testing::must;
using testing::Scene;
using testing::Sequence;

constexpr uint32_t dim = 64, query_heads = 4, kv_heads = 2;

// A scene for each KV head, as a sequence.
struct Context {
    std::vector<Scene> scenes;
    Sequence sequence{query_heads, kv_heads, dim, HBF_ELEMENT_FP16};
    Blocks blocks;
    KeyIndex index;

    Context(uint32_t tokens, uint32_t block_tokens, float offset, uint64_t seed, uint32_t bits = 4)
        : blocks(made(tokens, block_tokens, offset, seed)), index(index_of(blocks, bits)) {}

    std::vector<float> query(testing::Query kind, uint64_t number, uint32_t needle) const {
        std::vector<float> out(size_t{query_heads} * dim);
        for (uint32_t head = 0; head < query_heads; ++head)
            scenes[head / 2].query(kind, number * query_heads + head, needle, out.data() + head * dim);
        return out;
    }

private:
    Blocks made(uint32_t tokens, uint32_t block_tokens, float offset, uint64_t seed) {
        for (uint32_t head = 0; head < kv_heads; ++head) scenes.emplace_back(dim, seed * 10 + head, offset);
        std::vector<float> key(sequence.row()), value(sequence.row());
        for (uint32_t token = 0; token < tokens; ++token) {
            for (uint32_t head = 0; head < kv_heads; ++head)
                scenes[head].key(token, key.data() + head * dim), scenes[head].value(token, value.data() + head * dim);
            sequence.append(key.data(), value.data());
        }
        return sequence.blocks(block_tokens);
    }
};

class SelectiveTest : public ::testing::Test {
protected:
    Result<> attend(const Context &context, const Selection &selection, const std::vector<float> &query) {
        MemoryPlace memory(context.blocks.bytes.data(), context.blocks.bytes.size());
        AttendPlace *const places[] = {&memory};
        output.assign(query.size(), 0);
        return selective.attend(selection, context.index, places, context.blocks.list, query.data(), output.data());
    }
    double distance(const Context &context, const std::vector<float> &query, uint32_t head) const {
        const auto exact = context.sequence.attend(query.data(), head, context.sequence.tokens());
        double sum = 0;
        for (uint32_t i = 0; i < dim; ++i) {
            const double off = static_cast<double>(output[head * dim + i]) - exact[i];
            sum += off * off;
        }
        return std::sqrt(sum);
    }

    SelectiveAttention selective;
    std::vector<float> output;
};

// HBF_CERTIFICATE_STEPS=10000 for the long run.
TEST_F(SelectiveTest, TheCertificateIsNeverWrong) {
    const char *const asked = std::getenv("HBF_CERTIFICATE_STEPS");
    const int steps = asked ? std::atoi(asked) : 150;
    std::mt19937_64 random(1);
    double tightest = 0;
    for (const float offset : {0.0f, 3.0f, 6.0f}) {
        const Context context(2100, 32, offset, 1 + static_cast<uint64_t>(offset));
        for (int step = 0; step < steps / 3; ++step) {
            const auto kind = testing::all_queries[step % 3];
            const auto query = context.query(kind, static_cast<uint64_t>(step), random() % 2100);
            Selection selection;
            selection.recent = 64;
            selection.target = step % 2 ? 0.0 : std::pow(10.0, -static_cast<double>(1 + random() % 3));
            must(attend(context, selection, query));
            double missed = 0;
            for (uint32_t head = 0; head < query_heads; ++head) {
                const Certificate &certificate = selective.certificates()[head];
                const double error = distance(context, query, head);
                ASSERT_LE(error, certificate.error) << name_of(kind) << ", offset " << offset << ", step " << step;
                tightest = std::max(tightest, error / certificate.error);
                missed = std::max(missed, certificate.missed);
            }
            EXPECT_EQ(selective.report().missed, missed);
            if (selection.target > 0) {
                EXPECT_LE(missed, selection.target);
            }
        }
    }
    EXPECT_GT(tightest, 1e-4) << "a bound that is always far off says nothing";
}

TEST_F(SelectiveTest, WithoutCandidatesToSpareItIsExactAndSaysSo) {
    const Context context(1000, 16, 0, 3);
    const auto query = context.query(testing::Query::diffuse, 1, 0);
    Selection selection;
    selection.target = 1e-6, selection.give_up = 0.25;
    must(attend(context, selection, query));
    EXPECT_EQ(selective.report().exact_heads, kv_heads);
    EXPECT_EQ(selective.report().missed, 0);
    EXPECT_GE(selective.report().bytes_of_blocks, selective.report().bytes_of_all_blocks);
    MemoryPlace memory(context.blocks.bytes.data(), context.blocks.bytes.size());
    AttendPlace *const places[] = {&memory};
    std::vector<float> exact(query.size());
    ExactAttention attention;
    must(attention.attend(context.blocks.shape, places, context.blocks.list, query.data(), 1, exact.data()));
    EXPECT_EQ(output, exact) << "the same bits";
}

TEST_F(SelectiveTest, APeakedQueryReadsLittleAndIsRight) {
    const Context context(4096, 32, 0, 4, 8);
    uint64_t read = 0, all = 0;
    for (uint32_t number = 0; number < 20; ++number) {
        const auto query = context.query(testing::Query::peaked, number, 100 + number * 180);
        Selection selection;
        selection.recent = 64, selection.target = 0.05;
        must(attend(context, selection, query));
        EXPECT_EQ(selective.report().exact_heads, 0u) << number;
        EXPECT_LE(selective.report().missed, 0.05);
        for (uint32_t head = 0; head < query_heads; ++head) EXPECT_LE(distance(context, query, head), 0.5);
        read += selective.report().bytes_of_blocks, all += selective.report().bytes_of_all_blocks;
    }
    EXPECT_LT(read, all / 4);
}

// Each query whose exact attention to one token is half of all or more attends that token's block.
TEST_F(SelectiveTest, NeedlesAreFound) {
    uint32_t asked = 0;
    for (const float offset : {0.0f, 3.0f, 6.0f}) {
        const Context context(4096, 32, offset, 5);
        Selection selection;
        selection.recent = 64, selection.target = 0.45;
        for (uint32_t number = 0; number < 12; ++number) {
            const uint32_t needle = 50 + number * 330;
            const auto query = context.query(testing::Query::peaked, number, needle);
            must(attend(context, selection, query));
            for (uint32_t head = 0; head < query_heads; ++head) {
                std::vector<float> value(dim);
                context.scenes[head / 2].value(needle, value.data());
                const auto exact = context.sequence.attend(query.data(), head, 4096);
                double ours = 0, theirs = 0, size = 0;
                for (uint32_t i = 0; i < dim; ++i) {
                    ours += static_cast<double>(output[head * dim + i] * value[i]);
                    theirs += exact[i] * static_cast<double>(value[i]);
                    size += static_cast<double>(value[i] * value[i]);
                }
                if (theirs / size < 0.5) continue; // of the value nothing else has as much
                ++asked;
                EXPECT_GT(ours / size, 0.45) << "offset " << offset << ", needle " << needle << ", head " << head;
            }
        }
    }
    EXPECT_GT(asked, 70u) << "too few needles to speak of";
}

TEST_F(SelectiveTest, KeysThatAreNoNumbersAreReadAndNotPromised) {
    std::mt19937_64 random(6);
    for (const bool in_keys : {true, false}) {
        Context context(600, 32, 0, 6);
        std::vector<float> key(2 * dim, 0.1f), value(2 * dim, 0.1f);
        (in_keys ? key : value)[5] = std::nanf("");
        context.sequence.append(key.data(), value.data());
        context.blocks = context.sequence.blocks(32), context.index = index_of(context.blocks, 4);
        for (const double target : {0.0, 0.01}) {
            Selection selection;
            selection.target = target;
            must(attend(context, selection, context.query(testing::Query::mixed, 1, 100)));
            EXPECT_TRUE(std::isnan(output[5])) << "as exact attention has it";
            EXPECT_TRUE(std::isfinite(output[2 * dim])) << "the other KV head";
            EXPECT_EQ(selective.certificates()[0].error, std::numeric_limits<double>::infinity());
            EXPECT_TRUE(std::isfinite(selective.certificates()[2].error));
        }
    }
}

TEST_F(SelectiveTest, SmallContextsAndBadInput) {
    Selection selection;
    for (const uint32_t tokens : {1u, 15u, 16u, 40u}) {
        const Context context(tokens, 16, 0, 7);
        const auto query = context.query(testing::Query::mixed, 1, 0);
        must(attend(context, selection, query));
        EXPECT_EQ(selective.report().attended, selective.report().blocks);
        for (uint32_t head = 0; head < query_heads; ++head) EXPECT_LE(distance(context, query, head), 1e-5);
    }
    const Context context(100, 16, 0, 8);
    const auto query = context.query(testing::Query::mixed, 1, 0);
    const auto refused = [&](const Context &of, const Selection &with, const std::string &words) {
        const auto done = attend(of, with, query);
        ASSERT_FALSE(done) << words;
        EXPECT_NE(done.error().message.find(words), std::string::npos) << done.error().message;
    };
    for (const double wrong : {-0.1, 1.5, std::nan("")}) {
        selection = {}, selection.candidates = wrong;
        refused(context, selection, "candidates is");
        selection = {}, selection.target = wrong;
        refused(context, selection, "target is");
    }
    selection = {}, selection.target = 1;
    refused(context, selection, "target is 1");
    Context other = context;
    other.blocks.list.pop_back();
    refused(other, {}, "there are 6 blocks, and the index knows 7");
    other = context, other.blocks.list[2].at.tokens = 3;
    refused(other, {}, "block 2 has 3 tokens, and 16 in the index");
    other = context, other.blocks.list[0].place = 1;
    refused(other, {}, "place 1, and there is none");
}

TEST_F(SelectiveTest, OnceWarmedNothingIsAllocated) {
    const Context context(3000, 32, 3, 9);
    MemoryPlace memory(context.blocks.bytes.data(), context.blocks.bytes.size());
    AttendPlace *const places[] = {&memory};
    Selection selection;
    selection.target = 1e-3;
    std::vector<float> queries[3];
    output.resize(size_t{query_heads} * dim);
    const auto step = [&](int i) {
        must(selective.attend(selection, context.index, places, context.blocks.list, queries[i].data(), output.data()));
    };
    for (int i = 0; i < 3; ++i) queries[i] = context.query(testing::all_queries[i], 1, 1000), step(i);
    const auto before = hbf::testing::allocations();
    for (int i = 0; i < 3; ++i) step(i);
    EXPECT_EQ(hbf::testing::allocations() - before, 0u);
}

} // namespace
} // namespace hbf::kv
