// SPDX-License-Identifier: Apache-2.0
// A small model of Llama's shape with random weights decodes the same 500 tokens through the cache at every block size,
// budget and split over tiers, as by attention in fp64.
#include <random>

#include "core/common/testing/one_thread.hpp"
#include "core/engine/attention/testing/llama.hpp"
#include "core/engine/attention/testing/sequence.hpp"
#include "core/engine/blocks/cache_fixture.hpp"

namespace hbf::kv {
namespace {

using testing::Llama;
using testing::LlamaShape;

constexpr uint32_t decoded = 500, seed = 20;

std::vector<uint32_t> decode(const Llama::Attend &attend) {
    Llama model(seed);
    std::vector<uint32_t> tokens{1};
    for (uint32_t position = 0; position < decoded; ++position)
        tokens.push_back(model.step(tokens.back(), position, attend));
    return tokens;
}

std::vector<uint32_t> decode_by_definition() {
    const LlamaShape shape;
    std::vector<testing::Sequence> layers(
        shape.layers, testing::Sequence(shape.query_heads, shape.kv_heads, shape.head_dim, HBF_ELEMENT_FP16));
    return decode([&](uint32_t layer, const float *key, const float *value, const float *query, float *out) {
        testing::Sequence &sequence = layers[layer];
        sequence.append(key, value);
        for (uint32_t head = 0; head < shape.query_heads; ++head)
            for (const double number : sequence.attend(query, head, sequence.tokens())) *out++ = static_cast<float>(number);
    });
}

std::vector<uint16_t> stored(const float *row, uint32_t count) {
    std::vector<uint16_t> out;
    for (uint32_t i = 0; i < count; ++i) out.push_back(kernels::testing::to_fp16(static_cast<double>(row[i])));
    return out;
}

struct Budgets { // granules
    const char *name;
    uint64_t hbm, hbf, cold;
    bool moved; // blocks, at random, before each token
};

class GreedyCacheTest : public CacheTest {
protected:
    std::vector<uint32_t> decode_in(uint32_t block_tokens, const Budgets &budgets, uint64_t &elsewhere) {
        const LlamaShape shape;
        CacheOptions options;
        options.model = {shape.layers, shape.query_heads, shape.kv_heads, shape.head_dim, Element::fp16, 0, 1, {}};
        options.settings.kv.chunk_size = block_tokens;
        options.background = false;
        options.deadline = std::chrono::seconds(20);
        options.hbm = Place{device, dram, budgets.hbm * granule_size};
        if (budgets.hbf != 0) options.hbf = Place{device, vram, budgets.hbf * granule_size};
        if (budgets.cold != 0) options.cold = Place{device, cold, budgets.cold * granule_size};
        KvCache cache = must(KvCache::open(options));
        Sequence sequence = must(cache.sequence());
        std::mt19937 random(block_tokens);
        const uint32_t row_size = shape.kv_heads * shape.head_dim, numbers = shape.query_heads * shape.head_dim;
        uint32_t position = 0;
        return decode([&](uint32_t layer, const float *key, const float *value, const float *query, float *out) {
            if (layer == 0) {
                must(sequence.append(std::vector{position++}));
                const auto lane = sequence.blocks(random() % shape.layers);
                for (int i = 0; budgets.moved && i < 3 && !lane.empty(); ++i)
                    (void)cache.migrate(lane[random() % lane.size()], static_cast<Tier>(random() % 3));
            }
            const auto keys = stored(key, row_size), values = stored(value, row_size);
            must(sequence.put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values))));
            const auto report = must(sequence.attend(layer, {query, numbers}, {out, numbers}, AttendOptions{}));
            elsewhere += report.bytes_on_device + report.bytes_fetched;
        });
    }
};

TEST_F(GreedyCacheTest, TheSameTokensAtEveryBlockSizeBudgetAndSplit) {
    HBF_ONE_THREAD();
    const auto expected = decode_by_definition();
    constexpr Budgets all[] = {{"all in HBM", 256, 0, 0, false},
                               {"HBM nearly empty", 8, 256, 0, false},
                               {"three tiers", 16, 32, 96, false},
                               {"three tiers, moved all the time", 64, 64, 96, true}};
    for (const bool kernel : {false, true}) {
        if (kernel) script.kernels = {"attention/1"};
        device = open();
        for (const uint32_t block_tokens : {16u, 48u, 256u})
            for (const Budgets &budgets : all) {
                if (block_tokens > 48 && (&budgets == &all[0] || &budgets == &all[2])) continue;
                uint64_t elsewhere = 0;
                EXPECT_EQ(decode_in(block_tokens, budgets, elsewhere), expected)
                    << budgets.name << ", blocks of " << block_tokens << (kernel ? ", attended by the device" : ", fetched");
                if (budgets.hbf != 0 && block_tokens < 128) {
                    EXPECT_GT(elsewhere, 0u) << budgets.name << ", blocks of " << block_tokens;
                }
            }
    }
}

} // namespace
} // namespace hbf::kv
