// SPDX-License-Identifier: Apache-2.0
// Attention through the cache: the same bits wherever blocks are, decoding or prefill, selective within its certificate;
// what fails on the way is done again, and what is lost is said.
#include <cmath>
#include <random>
#include <thread>

#include "core/engine/attention/testing/scene.hpp"
#include "core/engine/blocks/cache_fixture.hpp"
#include "core/fabric/testing/allocations.hpp"
#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {
namespace {

constexpr uint32_t dim = 16, query_heads = 4, numbers = query_heads * dim;

class AttendTest : public CacheTest {
protected:
    static std::vector<float> queries(uint32_t first, uint32_t count) {
        std::vector<float> out;
        for (uint32_t token = first; token < first + count; ++token)
            for (uint32_t i = 0; i < numbers; ++i) out.push_back(number(token, 5, 6, i, true));
        return out;
    }
    static AttendReport attend(Sequence &sequence, uint32_t layer, std::vector<float> &output, uint32_t first,
                               uint32_t count = 1, const AttendOptions &how = {}) {
        const auto query = queries(first, count);
        output.assign(query.size(), NAN);
        return must(sequence.attend(layer, query, output, how));
    }
    // A sequence of these tokens that was never moved.
    static std::vector<float> reference(const CacheOptions &like, std::span<const uint32_t> all, uint32_t layer,
                                        uint32_t first) {
        CacheOptions options = like;
        options.hbm->bytes = 4096 * granule_size;
        options.hbf.reset(), options.cold.reset();
        KvCache cache = must(KvCache::open(options));
        Sequence sequence = must(cache.sequence());
        must(write(sequence, all));
        std::vector<float> output;
        attend(sequence, layer, output, first);
        return output;
    }
};

TEST_F(AttendTest, TheSameBitsWhereverBlocksAre) {
    const auto all = tokens(1, 16 * 37 + 5);
    for (const bool kernel : {false, true}) {
        if (kernel) script.kernels = {"attention/1"};
        device = open();
        CacheOptions options = small(512, 512);
        options.cold = Place{device, cold, 96 * granule_size};
        const auto expected = reference(options, all, 1, 7);
        KvCache cache = must(KvCache::open(options));
        Sequence sequence = must(cache.sequence());
        must(write(sequence, all));
        std::vector<float> output;
        std::mt19937 random(1);
        uint64_t on_device = 0, fetched = 0;
        for (uint32_t round = 0; round < 12; ++round) {
            const auto report = attend(sequence, 1, output, 7);
            ASSERT_EQ(output, expected) << "round " << round << (kernel ? ", with a kernel" : "");
            EXPECT_EQ(report.retried, 0u);
            EXPECT_EQ(report.fetched_alone, 0u);
            EXPECT_EQ(report.attended, 38 * 2u) << "blocks of two KV heads";
            on_device += report.bytes_on_device, fetched += report.bytes_fetched;
            attend(sequence, 0, output, 7); // what was fetched ahead for it is right too
            ASSERT_EQ(output, reference(options, all, 0, 7));
            for (int i = 0; i < 9; ++i) {
                const auto lane = sequence.blocks(random() % 2);
                (void)cache.migrate(lane[random() % 37], static_cast<Tier>(random() % 3));
            }
        }
        EXPECT_EQ(on_device > 0, kernel && kernels::attention_is_fused());
        EXPECT_GT(fetched, 0u) << "no processor reaches the cold tier";
        EXPECT_EQ(cache.stats().damaged, 0u);
    }
}

TEST_F(AttendTest, AChunkOfPrefillIsTokenAfterToken) {
    for (const uint32_t groups : {1u, 2u})
        for (const bool down : {false, true}) {
            auto options = small(512, 512);
            options.model.head_groups = groups;
            const auto all = tokens(1, 150);
            KvCache cache = must(KvCache::open(options));
            Sequence slow = must(cache.sequence()), fast = must(cache.sequence(std::vector<uint32_t>{}, "another"));
            std::vector<std::vector<float>> one(all.size());
            for (uint32_t i = 0; i < all.size(); ++i) {
                must(write(slow, std::span(all).subspan(i, 1)));
                attend(slow, 1, one[i], i);
            }
            std::vector<float> chunk;
            for (uint32_t at = 0; const uint32_t count : {1u, 40u, 7u, 102u}) {
                must(write(fast, std::span(all).subspan(at, count)));
                if (down) must(fast.move_to(Tier::hbf));
                attend(fast, 1, chunk, at, count);
                for (uint32_t i = 0; i < count; ++i)
                    ASSERT_EQ(std::vector(chunk.begin() + i * numbers, chunk.begin() + (i + 1) * numbers), one[at + i])
                        << "token " << at + i << (down ? ", fetched" : "");
                at += count;
            }
        }
}

TEST_F(AttendTest, WhatFailsIsDoneAgainAndWhatIsLostIsSaid) {
    const auto all = tokens(1, 16 * 20);
    for (const bool kernel : {false, true}) {
        if (kernel) script.kernels = {"attention/1"};
        device = open();
        const auto options = small(512, 512);
        const auto expected = reference(options, all, 0, 3);
        std::vector<float> output;
        const auto fault = [&](std::atomic<int> &what, int when, bool lower_copies) {
            KvCache cache = must(KvCache::open(options));
            Sequence sequence = must(cache.sequence());
            must(write(sequence, all));
            must(sequence.move_to(Tier::hbf));
            if (lower_copies) attend(sequence, 0, output, 3);
            what = when;
            output.assign(numbers, NAN);
            const auto report = sequence.attend(0, queries(3, 1), output, {});
            const bool struck = what.exchange(0) == 0;
            ASSERT_TRUE(report) << report.error().message; // one fault: the second way is right
            EXPECT_EQ(output, expected);
            if (struck && report) {
                EXPECT_EQ(report->retried, 1u);
                EXPECT_GT(report->fetched_alone, 0u);
                EXPECT_GE(cache.stats().failed_transfers, 1u);
            }
            output.assign(numbers, NAN); // and the time after
            must(sequence.attend(0, queries(3, 1), output));
            EXPECT_EQ(output, expected);
        };
        fault(script.fail_copy, 1, false);
        fault(script.fail_copy, 1, true);
        if (kernel) {
            fault(script.fail_launch, 1, false);
        } else { // what a device reads in its own memory nobody else verifies
            fault(script.flip_bit, 1, false);
            fault(script.drop_copy, 1, false);
            fault(script.short_read, 1, false);
        }
    }
}

TEST_F(AttendTest, ADamagedBlockIsNeverAttended) {
    KvCache cache = must(KvCache::open(small(512, 512)));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 16 * 8);
    must(write(sequence, all));
    script.flip_bit = 2; // of the copies to HBF, or of what is read back
    must(sequence.move_to(Tier::hbf));
    script.flip_bit = 0;
    std::vector<float> output(numbers), expected = reference(small(), all, 0, 3);
    const auto done = sequence.attend(0, queries(3, 1), output);
    if (done) {
        EXPECT_EQ(output, expected);
    } else {
        EXPECT_EQ(code_of(done), Code::data_loss);
    }
    script.lost = true;
    std::fill(output.begin(), output.end(), NAN);
    const auto lost = sequence.attend(0, queries(3, 1), output);
    ASSERT_FALSE(lost) << "the device that holds the blocks is gone";
    EXPECT_FALSE(lost.error().message.empty());
    script.lost = false;
}

// Nobody waits for ever: neither who attends, nor who ends the sequence.
TEST_F(AttendTest, ADeviceThatHangsIsLeftAlone) {
    for (const bool kernel : {false, true}) {
        if (kernel) script.kernels = {"attention/1"};
        device = open();
        auto options = small(512, 512);
        options.deadline = std::chrono::milliseconds(150);
        KvCache cache = must(KvCache::open(options));
        std::optional<Sequence> sequence = must(cache.sequence());
        must(write(*sequence, tokens(1, 16 * 8)));
        must(sequence->move_to(Tier::hbf));
        std::vector<float> output(numbers), expected(numbers);
        must(sequence->attend(0, queries(3, 1), expected));
        script.cancel_works = false, script.manual = true;
        const auto late = sequence->attend(0, queries(3, 1), output);
        EXPECT_EQ(code_of(late), Code::timeout);
        sequence.reset();
        script.cancel_works = true, script.manual = false;
        script.run();
    }
}

TEST_F(AttendTest, BadInputIsNamed) {
    KvCache cache = must(KvCache::open(small()));
    Sequence sequence = must(cache.sequence());
    std::vector<float> query(numbers), output(numbers);
    const auto refused = [&](uint32_t layer, const AttendOptions &how, const char *words) {
        const auto done = sequence.attend(layer, query, output, how);
        ASSERT_EQ(code_of(done), Code::invalid) << words;
        EXPECT_TRUE(contains(done.error().message, words)) << done.error().message;
    };
    refused(0, {}, "layer 0 has no token yet");
    must(write(sequence, tokens(1, 20)));
    refused(2, {}, "the model has 2");
    query.resize(numbers + 1);
    refused(0, {}, "65 and 64 numbers");
    query.resize(21 * numbers), output.resize(21 * numbers);
    refused(0, {}, "21 tokens: layer 0 has 20");
    query.resize(2 * numbers), output.resize(2 * numbers);
    refused(0, {true, 0, {}}, "selective attention is of one");
    AttendOptions odd{true, 0, {}};
    odd.selection.mass = 2;
    query.resize(numbers), output.resize(numbers);
    refused(0, odd, "mass is 2");
}

TEST_F(AttendTest, OnceWarmedExactAttentionAllocatesNothing) {
    CacheOptions options = small(512, 512);
    KvCache cache = must(KvCache::open(options));
    Sequence sequence = must(cache.sequence());
    must(write(sequence, tokens(1, 16 * 30)));
    std::vector<float> query = queries(1, 1), output(numbers);
    for (int i = 0; i < 3; ++i)
        for (const uint32_t layer : {0u, 1u}) must(sequence.attend(layer, query, output));
    const auto before = hbf::testing::allocations();
    for (const uint32_t layer : {0u, 1u}) must(sequence.attend(layer, query, output));
    EXPECT_EQ(hbf::testing::allocations() - before, 0u);
}

// One attends over and over, from three tiers and by a device; others move its blocks and let others take their places.
TEST_F(AttendTest, ReadersNeverAttendABlockThatMoved) {
    auto options = small(64, 512);
    options.cold = Place{device, cold, 96 * granule_size};
    const auto all = tokens(1, 16 * 12);
    const auto expected = reference(options, all, 0, 9);
    KvCache cache = must(KvCache::open(options));
    Sequence read = must(cache.sequence());
    must(write(read, all));
    const auto blocks = read.blocks(0);
    std::atomic<bool> done{false};
    std::thread mover([&] {
        std::mt19937 random(1);
        for (int i = 0; i < 300; ++i) (void)cache.migrate(blocks[random() % blocks.size()], static_cast<Tier>(random() % 3));
        done = true;
    });
    std::thread writer([&] {
        for (uint32_t i = 1; !done; ++i) {
            Sequence other = must(cache.sequence());
            (void)write(other, tokens(i * 1000, 48));
        }
    });
    std::vector<float> output;
    for (uint64_t rounds = 0; !done || rounds < 3; ++rounds) {
        attend(read, 0, output, 9);
        EXPECT_EQ(output, expected);
        if (output != expected) break;
    }
    mover.join();
    writer.join();
    EXPECT_EQ(cache.stats().damaged, 0u);
}

// Selective attention through the cache, over a scene of two KV heads as attention/selective_test.cpp has it.
class SelectiveAttendTest : public CacheTest {
protected:
    static constexpr uint32_t width = 64, heads = 4;

    CacheOptions options() {
        CacheOptions out = small(600, 600);
        out.model.layers = 1, out.model.query_heads = heads, out.model.kv_heads = 2, out.model.head_dim = width;
        return out;
    }
    Result<> put(Sequence &sequence, uint32_t first, uint32_t count) {
        std::vector<float> keys(size_t{count} * 2 * width), values(keys.size());
        for (uint32_t token = 0; token < count; ++token)
            for (uint32_t head = 0; head < 2; ++head) {
                scenes[head].key(first + token, keys.data() + (token * 2 + head) * width);
                scenes[head].value(first + token, values.data() + (token * 2 + head) * width);
            }
        if (auto begun = sequence.append(tokens(first, count)); !begun) return begun;
        return sequence.put(0, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values)));
    }
    std::vector<float> query(testing::Query kind, uint64_t number, uint32_t needle) const {
        std::vector<float> out(size_t{heads} * width);
        for (uint32_t head = 0; head < heads; ++head)
            scenes[head / 2].query(kind, number * heads + head, needle, out.data() + head * width);
        return out;
    }
    static double farthest(const std::vector<float> &ours, const std::vector<float> &exact) {
        double most = 0;
        for (uint32_t head = 0; head < heads; ++head) {
            double sum = 0;
            for (uint32_t i = head * width; i < (head + 1) * width; ++i)
                sum += std::pow(static_cast<double>(ours[i]) - static_cast<double>(exact[i]), 2);
            most = std::max(most, std::sqrt(sum));
        }
        return most;
    }

    std::vector<testing::Scene> scenes{{width, 10, 3.0f}, {width, 11, 3.0f}};
};

TEST_F(SelectiveAttendTest, ItKeepsItsPromiseWhereverBlocksAre) {
    for (const bool kernel : {false, true}) {
        if (kernel) script.kernels = {"attention/1"};
        device = open();
        KvCache cache = must(KvCache::open(options()));
        Sequence sequence = must(cache.sequence());
        must(put(sequence, 0, 2000));
        std::vector<float> ours(heads * width), exact(heads * width);
        AttendOptions how{true, 0, {}};
        how.selection.recent = 64;
        uint64_t attended = 0, blocks = 0;
        std::mt19937 random(2);
        for (uint32_t step = 0; step < 24; ++step) {
            how.selection.target = step % 2 ? 0.05 : 0;
            const auto asked = query(testing::all_queries[step % 3], step, random() % 2000);
            const auto report = must(sequence.attend(0, asked, ours, how));
            must(sequence.attend(0, asked, exact));
            EXPECT_LE(farthest(ours, exact), report.error + 1e-5) << step;
            EXPECT_FALSE(report.exact);
            EXPECT_EQ(report.blocks, 2 * sequence.blocks(0).size());
            if (how.selection.target > 0) {
                EXPECT_LE(report.missed, 0.05);
            } else if (testing::all_queries[step % 3] == testing::Query::peaked) {
                attended += report.attended, blocks += report.blocks;
            }
            must(put(sequence, 2000 + step, 1));
            const auto lane = sequence.blocks(0);
            for (int i = 0; i < 20; ++i) (void)cache.migrate(lane[random() % lane.size()], static_cast<Tier>(random() % 2));
        }
        EXPECT_LT(attended, blocks / 4) << "a choice that takes everything is none";
        EXPECT_GT(cache.stats().index_bytes, 0u);
    }
}

TEST_F(SelectiveAttendTest, TheIndexFollowsWhatComesAndGoes) {
    KvCache cache = must(KvCache::open(options()));
    Sequence sequence = must(cache.sequence());
    must(put(sequence, 0, 900));
    const auto asked = query(testing::Query::peaked, 1, 333);
    std::vector<float> ours(heads * width), again(heads * width);
    AttendOptions how{true, 0, {}};
    how.selection.recent = 64, how.selection.target = 0.01;
    must(sequence.attend(0, asked, ours, how));
    must(sequence.truncate(409));
    must(put(sequence, 5000, 300)); // other tokens in the same places
    must(sequence.truncate(500));
    for (uint32_t i = 0; i < 40; ++i) must(put(sequence, 7000 + i, 1));
    const auto report = must(sequence.attend(0, asked, ours, how));
    EXPECT_LT(report.attended, report.blocks);
    Sequence fresh = must(cache.sequence({}, "nobody"));
    must(put(fresh, 0, 409)), must(put(fresh, 5000, 91));
    for (uint32_t i = 0; i < 40; ++i) must(put(fresh, 7000 + i, 1));
    for (const uint32_t needle : {333u, 5003u, 5089u, 7010u}) { // 5003 came into a block that was full of others before
        const auto of_needle = query(testing::Query::peaked, 1, needle);
        must(sequence.attend(0, of_needle, ours, how));
        must(fresh.attend(0, of_needle, again, how));
        EXPECT_EQ(ours, again) << "as an index made at once; needle " << needle;
    }
    must(sequence.attend(0, asked, ours, how));
    Sequence fork = must(fresh.fork());
    must(fork.attend(0, asked, again, how));
    EXPECT_EQ(ours, again);
    const uint64_t bytes = cache.stats().index_bytes;
    {
        Sequence gone = std::move(fork);
    }
    EXPECT_LT(cache.stats().index_bytes, bytes);
}

TEST_F(SelectiveAttendTest, BlocksOfEverySizeAndTheFirstLayersAreRight) {
    auto with = options();
    with.model.layers = 3;
    KvCache cache = must(KvCache::open(with));
    Sequence sequence = must(cache.sequence());
    for (uint32_t at = 0; at < 1500; at += 100) { // blocks grow from 16 to 64 tokens
        if (at == 200) must(cache.set_chunk_size(64));
        std::vector<float> keys(size_t{100} * 2 * width), values(keys.size());
        for (uint32_t token = 0; token < 100; ++token)
            for (uint32_t head = 0; head < 2; ++head) {
                scenes[head].key(at + token, keys.data() + (token * 2 + head) * width);
                scenes[head].value(at + token, values.data() + (token * 2 + head) * width);
            }
        must(sequence.append(tokens(at, 100)));
        for (uint32_t layer = 0; layer < 3; ++layer)
            must(sequence.put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values))));
    }
    std::vector<float> ours(heads * width), exact(heads * width);
    AttendOptions how{true, 2, {}};
    how.selection.recent = 64;
    for (uint32_t layer = 0; layer < 3; ++layer)
        for (uint32_t number = 0; number < 4; ++number) {
            how.selection.target = number % 2 ? 0.02 : 0;
            const auto asked = query(testing::Query::peaked, number, 205 + 25 * number); // in blocks of the odd sizes
            const auto report = must(sequence.attend(layer, asked, ours, how));
            must(sequence.attend(layer, asked, exact));
            EXPECT_EQ(report.exact, layer < 2);
            if (number % 2 == 0) {
                EXPECT_EQ(report.attended < report.blocks, layer == 2) << number;
            }
            if (layer < 2) {
                EXPECT_EQ(ours, exact);
            }
            EXPECT_LE(farthest(ours, exact), report.error + 1e-5);
        }
    must(sequence.move_to(Tier::hbf));
    const auto asked = query(testing::Query::peaked, 1, 400);
    must(sequence.attend(2, asked, exact, how));
    must(sequence.attend(0, asked, exact));
    std::vector<float> there(heads * width);
    must(sequence.attend(1, asked, there));
    EXPECT_EQ(exact, there) << "layers of the same rows, of blocks of several sizes";
}

} // namespace
} // namespace hbf::kv
