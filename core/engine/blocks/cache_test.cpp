// SPDX-License-Identifier: Apache-2.0
// Sequences over blocks: what was put is what is read, whoever shares it and wherever it lies.
#include <cmath>

#include "core/common/testing/one_thread.hpp"
#include "core/engine/blocks/cache_fixture.hpp"

namespace hbf::kv {
namespace {

TEST_F(CacheTest, WhatIsPutIsRead) {
    KvCache cache = must(KvCache::open(small()));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(100, 90);
    must(write(sequence, std::span(all).first(37)));
    for (size_t i = 37; i < all.size(); ++i) must(write(sequence, std::span(all).subspan(i, 1)));
    EXPECT_EQ(check(sequence, all), "");
    EXPECT_EQ(sequence.blocks(0).size(), 6u) << "of 16 tokens";
    std::vector<float> keys(3 * row), values(3 * row);
    must(sequence.read(1, 15, 3, std::as_writable_bytes(std::span(keys)), std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(keys, rows(std::span(all).subspan(15, 3), 15, 1, true)) << "across blocks";
}

TEST_F(CacheTest, HeadGroupsHaveBlocksOfTheirOwn) {
    auto options = small();
    options.model.head_groups = 2;
    KvCache cache = must(KvCache::open(options));
    for (int i = 0; i < 100; ++i) { // group 1 attends to everything, group 0 to one token
        must(cache.report_entropy(0, 0, 0.0));
        must(cache.report_entropy(0, 1, 3.0));
    }
    EXPECT_EQ(cache.block_tokens(0, 0), 16u);
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(5, 200);
    must(write(sequence, all));
    EXPECT_EQ(check(sequence, all), "");
    EXPECT_EQ(sequence.blocks(0, 0).size(), 13u);
    EXPECT_LT(sequence.blocks(0, 1).size(), 9u) << "grown to 48 tokens a block";
    Sequence other = must(cache.sequence(all));
    EXPECT_EQ(other.reused() % 16, 0u);
    EXPECT_GE(other.reused(), 96u) << "as far as both groups have whole blocks";
    EXPECT_EQ(check(other, std::span(all).first(other.reused())), "");
    must(write(other, std::span(all).subspan(other.reused())));
    EXPECT_EQ(check(other, all), "");
}

TEST_F(CacheTest, APrefixIsTakenOverAndStoredOnce) {
    KvCache cache = must(KvCache::open(small()));
    const auto prompt = tokens(1, 64);
    Sequence first = must(cache.sequence(prompt));
    EXPECT_EQ(first.reused(), 0u);
    must(write(first, prompt));
    const uint64_t used = cache.stats().tiers[0].used;
    auto longer = prompt;
    longer.push_back(999);
    Sequence second = must(cache.sequence(longer));
    EXPECT_EQ(second.reused(), 64u);
    EXPECT_EQ(cache.stats().tiers[0].used, used);
    EXPECT_EQ(check(second, prompt), "");
    EXPECT_EQ(must(cache.sequence(prompt)).reused(), 63u) << "the last token is left to compute";
    longer[20] = 7;
    EXPECT_EQ(must(cache.sequence(longer)).reused(), 16u);
    EXPECT_EQ(must(cache.sequence(prompt, "somebody else")).reused(), 0u);
    {
        Sequence gone = std::move(first);
    }
    {
        Sequence gone = std::move(second);
    }
    EXPECT_EQ(must(cache.sequence(prompt)).reused(), 63u) << "what nobody holds can still be found";
}

TEST_F(CacheTest, AnotherModelSharesNothing) {
    auto options = small();
    KvCache cache = must(KvCache::open(options));
    options.model.digest.bytes[3] = 1;
    KvCache other = must(KvCache::open(options)); // two engines in one process
    const auto prompt = tokens(1, 40);
    Sequence a = must(cache.sequence()), b = must(other.sequence());
    must(write(a, prompt));
    must(write(b, prompt));
    const auto ia = must(cache.explain(a.blocks(0)[0])).identity, ib = must(other.explain(b.blocks(0)[0])).identity;
    EXPECT_TRUE(ia);
    EXPECT_NE(ia, ib);
    EXPECT_NE(ia, must(cache.explain(a.blocks(1)[0])).identity) << "layers have identities of their own";
}

TEST_F(CacheTest, TheSameComputedTwiceIsStoredOnceAfterAComparison) {
    KvCache cache = must(KvCache::open(small()));
    const auto prompt = tokens(1, 32);
    Sequence a = must(cache.sequence()), b = must(cache.sequence()); // neither knew of the other
    must(write(a, prompt));
    const uint64_t used = cache.stats().tiers[0].used;
    must(write(b, prompt));
    EXPECT_EQ(cache.stats().tiers[0].used, used);
    EXPECT_EQ(cache.stats().dedupe_across_requests, 4 * granule_size);
    EXPECT_EQ(a.blocks(0), b.blocks(0));
    Sequence odd = must(cache.sequence());
    must(odd.append(prompt)); // the same tokens, computed otherwise
    for (uint32_t layer = 0; layer < 2; ++layer) {
        auto keys = rows(prompt, 0, layer, true), values = rows(prompt, 0, layer, false);
        values[5] += 1;
        must(odd.put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values))));
    }
    EXPECT_NE(odd.blocks(0)[0], a.blocks(0)[0]) << "the same identity is not enough";
    EXPECT_EQ(check(a, prompt), "");
    EXPECT_EQ(check(b, prompt), "");
    EXPECT_EQ(check(odd, prompt), "wrong values in layer 0");
}

TEST_F(CacheTest, LayersOfTheSameBytesAreStoredOnceAndCountedApart) {
    KvCache cache = must(KvCache::open(small()));
    const auto all = tokens(1, 32);
    Sequence sequence = must(cache.sequence());
    must(write(sequence, all, 2, true));
    const auto stats = cache.stats();
    EXPECT_EQ(stats.dedupe_across_layers, 2 * granule_size);
    EXPECT_EQ(stats.dedupe_across_requests, 0u);
    EXPECT_EQ(stats.tiers[0].used, 2 * granule_size);
    EXPECT_EQ(must(cache.explain(sequence.blocks(1)[0])).same_as, sequence.blocks(0)[0]);
    EXPECT_EQ(check(sequence, all, 2, true), "");
    must(cache.migrate(sequence.blocks(1)[0], Tier::hbf));
    EXPECT_EQ(must(cache.explain(sequence.blocks(0)[0])).tier, Tier::hbf) << "they have one place";
    EXPECT_EQ(check(sequence, all, 2, true), "");
    {
        Sequence gone = std::move(sequence);
    }
    auto options = small();
    options.dedupe = false;
    KvCache apart = must(KvCache::open(options));
    Sequence other = must(apart.sequence());
    must(write(other, all, 2, true));
    EXPECT_EQ(apart.stats().tiers[0].used, 4 * granule_size);
}

TEST_F(CacheTest, AForkSharesUntilSomebodyWrites) {
    KvCache cache = must(KvCache::open(small()));
    const auto all = tokens(1, 60);
    Sequence first = must(cache.sequence());
    must(write(first, std::span(all).first(40)));
    const uint64_t used = cache.stats().tiers[0].used;
    Sequence second = must(first.fork());
    EXPECT_EQ(cache.stats().tiers[0].used, used);
    auto other = all;
    for (size_t i = 40; i < 60; ++i) other[i] = 5000 + static_cast<uint32_t>(i);
    must(write(second, std::span(other).subspan(40, 4))); // both within the block that both began with
    must(write(first, std::span(all).subspan(40, 4)));
    EXPECT_EQ(check(first, std::span(all).first(44)), "");
    EXPECT_EQ(check(second, std::span(other).first(44)), "");
    must(write(second, std::span(other).subspan(44)));
    must(write(first, std::span(all).subspan(44)));
    EXPECT_EQ(check(first, all), "");
    EXPECT_EQ(check(second, other), "");
    EXPECT_EQ(first.blocks(0)[1], second.blocks(0)[1]);
    EXPECT_NE(first.blocks(0)[2], second.blocks(0)[2]);
}

TEST_F(CacheTest, TruncatingGoesBackAndOnAgain) {
    KvCache cache = must(KvCache::open(small()));
    auto all = tokens(1, 80);
    Sequence sequence = must(cache.sequence());
    must(write(sequence, all));
    for (const uint32_t to : {70u, 64u, 33u, 16u, 5u, 0u}) { // within a block, at its end, in a sealed one
        must(sequence.truncate(to));
        EXPECT_EQ(check(sequence, std::span(all).first(to)), "") << to;
        for (size_t i = to; i < 80; ++i) all[i] += 1000;
        must(write(sequence, std::span(all).subspan(to)));
        ASSERT_EQ(check(sequence, all), "") << to;
    }
    EXPECT_EQ(code_of(sequence.truncate(81)), Code::invalid);
}

TEST_F(CacheTest, NobodysBlocksGoWithTheLastSequence) {
    KvCache cache = must(KvCache::open(small()));
    {
        Sequence sequence = must(cache.sequence());
        must(write(sequence, tokens(1, 40)));
        EXPECT_EQ(cache.stats().sequences, 1u);
    }
    EXPECT_EQ(cache.stats().sequences, 0u);
    EXPECT_EQ(cache.stats().blocks, 4u) << "whole ones can be found again, what was begun is gone";
}

TEST_F(CacheTest, StepsAreWholeOrNotThere) {
    KvCache cache = must(KvCache::open(small()));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 20);
    const auto keys = rows(all, 0, 0, true);
    const auto bytes = std::as_bytes(std::span(keys));
    EXPECT_EQ(code_of(sequence.put(0, bytes, bytes)), Code::invalid) << "no step";
    must(sequence.append(all));
    EXPECT_EQ(code_of(sequence.append(all)), Code::invalid);
    EXPECT_EQ(code_of(sequence.put(2, bytes, bytes)), Code::invalid);
    EXPECT_EQ(code_of(sequence.put(0, bytes.first(8), bytes)), Code::invalid);
    must(sequence.put(0, bytes, bytes));
    EXPECT_EQ(code_of(sequence.put(0, bytes, bytes)), Code::invalid) << "twice";
    EXPECT_EQ(sequence.tokens(), 0u);
    EXPECT_EQ(code_of(sequence.fork()), Code::invalid);
    must(sequence.truncate(0));
    must(write(sequence, all));
    EXPECT_EQ(check(sequence, all), "");
    EXPECT_EQ(code_of(sequence.append({})), Code::invalid);
    std::vector<float> out(20 * row);
    const auto space = std::as_writable_bytes(std::span(out));
    EXPECT_EQ(code_of(sequence.read(0, 1, 20, space, space)), Code::invalid);
    EXPECT_EQ(code_of(sequence.read(0, 0, 19, space, space)), Code::invalid);
}

TEST_F(CacheTest, AttentionIsTheSameWhereverTheBlocksAre) {
    KvCache cache = must(KvCache::open(small()));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 100);
    must(write(sequence, all));
    const auto before = attended(sequence);
    std::vector<double> expected(4 * dim, 0); // in fp64
    const auto keys = rows(all, 0, 0, true), values = rows(all, 0, 0, false);
    for (uint32_t head = 0; head < 4; ++head) {
        std::vector<double> scores;
        for (size_t t = 0; t < all.size(); ++t) {
            double score = 0;
            for (uint32_t i = 0; i < dim; ++i)
                score += static_cast<double>(number(1, 2, 3, head * dim + i, true)) * keys[t * row + head / 2 * dim + i];
            scores.push_back(score / std::sqrt(double{dim}));
        }
        const double most = *std::max_element(scores.begin(), scores.end());
        double sum = 0;
        for (double &score : scores) sum += score = std::exp(score - most);
        for (size_t t = 0; t < all.size(); ++t)
            for (uint32_t i = 0; i < dim; ++i)
                expected[head * dim + i] += scores[t] / sum * values[t * row + head / 2 * dim + i];
    }
    for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], expected[i], 2e-5) << i;
    EXPECT_EQ(must(sequence.move_to(Tier::hbf)), 12u) << "of 14 blocks two are being filled";
    EXPECT_EQ(attended(sequence), before) << "bit for bit, from memory that only the device reaches";
    must(cache.migrate(sequence.blocks(0)[2], Tier::hbm));
    EXPECT_EQ(attended(sequence), before);
    EXPECT_EQ(check(sequence, all), "");
}

TEST_F(CacheTest, OneTokenIsASequence) {
    auto options = small(1, 0);
    options.model.layers = 1;
    KvCache cache = must(KvCache::open(options));
    Sequence sequence = must(cache.sequence());
    must(write(sequence, tokens(9, 1), 1));
    EXPECT_EQ(check(sequence, tokens(9, 1), 1), "");
    const auto values = rows(tokens(9, 1), 0, 0, false);
    EXPECT_EQ(attended(sequence)[0], values[0]);
}

TEST_F(CacheTest, WhatCannotWorkIsRefusedWithTheReason) {
    const auto refused = [](const CacheOptions &options) {
        const auto cache = KvCache::open(options);
        EXPECT_FALSE(cache);
        return cache ? std::string() : cache.error().message;
    };
    auto options = small();
    options.hbm->bytes = 0;
    EXPECT_TRUE(contains(refused(options), "hbm: a budget of 0 bytes; one block of 16 tokens takes 65536"));
    options.hbm->bytes = uint64_t{2} << 40;
    EXPECT_TRUE(contains(refused(options), "tier dram of a has 1099511627776"));
    options = small();
    options.hbm->tier = 77;
    EXPECT_TRUE(contains(refused(options), "has no tier 77"));
    options = small();
    options.hbm->tier = vram;
    EXPECT_TRUE(contains(refused(options), "can be written by the CPU"));
    options = small();
    options.hbm.reset();
    EXPECT_TRUE(contains(refused(options), "hbm: a cache needs this place"));
    options = small();
    options.settings.scheduler.hbm_threshold = 1;
    EXPECT_TRUE(contains(refused(options), "no block is ever hotter"));
    for (auto change : std::initializer_list<void (*)(Model &)>{
             [](Model &m) { m.layers = 0; }, [](Model &m) { m.kv_heads = 0; }, [](Model &m) { m.head_dim = 20; },
             [](Model &m) { m.query_heads = 3; }, [](Model &m) { m.head_groups = 3; }, [](Model &m) { m.scale = NAN; },
             [](Model &m) { m.head_groups = 0; }, [](Model &m) { m.element = static_cast<Element>(9); }}) {
        options = small();
        change(options.model);
        EXPECT_TRUE(contains(refused(options), "model: "));
    }
}

TEST_F(CacheTest, MetadataIsSmall) {
    HBF_ONE_THREAD();
    auto options = small(8192, 0);
    options.model.layers = 1;
    KvCache cache = must(KvCache::open(options));
    Sequence sequence = must(cache.sequence());
    const uint64_t empty = cache.stats().metadata_bytes;
    must(write(sequence, tokens(1, 16 * 8000), 1));
    const auto stats = cache.stats();
    EXPECT_EQ(stats.blocks, 8000u);
    EXPECT_LE((stats.metadata_bytes - empty) / stats.blocks + 8 /* in the sequence's list */, 128u);
}

TEST_F(CacheTest, ChunkSizeChangesStepByStep) {
    KvCache cache = must(KvCache::open(small()));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 400);
    must(write(sequence, std::span(all).first(32)));
    must(cache.set_chunk_size(64));
    must(write(sequence, std::span(all).subspan(32)));
    EXPECT_EQ(check(sequence, all), "");
    std::vector<uint32_t> sizes;
    for (const BlockId block : sequence.blocks(0)) sizes.push_back(must(cache.explain(block)).capacity);
    EXPECT_EQ(sizes, (std::vector<uint32_t>{16, 16, 32, 48, 64, 64, 64, 64, 64}));
    EXPECT_EQ(code_of(cache.set_chunk_size(17)), Code::invalid);
    EXPECT_EQ(code_of(cache.set_chunk_size(272)), Code::invalid);
    auto longer = all;
    longer.push_back(1);
    EXPECT_EQ(must(cache.sequence(longer)).reused(), 368u) << "blocks of all sizes are found";
}

} // namespace
} // namespace hbf::kv
