// SPDX-License-Identifier: Apache-2.0
// What is odd but allowed: numbers that are none, a million tokens, the smallest and largest blocks, more than 4 GiB.
#include <barrier>
#include <cmath>
#include <thread>

#include "core/common/testing/one_thread.hpp"
#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/blocks/cache_fixture.hpp"

namespace hbf::kv {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T> &numbers) {
    return std::as_bytes(std::span(numbers));
}

// Kept bit for bit wherever it goes; in attention it stays with the heads that see it.
TEST_F(CacheTest, NumbersThatAreNoneAreKeptAndStayWithTheirHead) {
    KvCache cache = must(KvCache::open(small()));
    Sequence clean = must(cache.sequence());
    const auto all = tokens(1, 48);
    must(write(clean, all));
    const auto without = attended(clean);
    for (const bool in_keys : {true, false})
        for (const uint32_t bits : {0x7fc12345u, 0xff800001u, 0x7f800000u, 0xff800000u}) { // NaNs of two kinds, infinities
            Sequence sequence = must(cache.sequence());
            must(sequence.append(all));
            std::vector<float> keys, values;
            for (uint32_t layer = 0; layer < 2; ++layer) {
                keys = rows(all, 0, layer, true), values = rows(all, 0, layer, false);
                std::memcpy((in_keys ? keys : values).data() + 20 * row + dim + 3, &bits, sizeof bits); // KV head 1
                must(sequence.put(layer, bytes_of(keys), bytes_of(values)));
            }
            for (const Tier tier : {Tier::hbm, Tier::hbf, Tier::hbm}) {
                must(sequence.move_to(tier));
                std::vector<float> read_keys(keys.size()), read_values(values.size());
                must(sequence.read(1, 0, 48, std::as_writable_bytes(std::span(read_keys)),
                                   std::as_writable_bytes(std::span(read_values))));
                EXPECT_EQ(std::memcmp(read_keys.data(), keys.data(), keys.size() * 4), 0) << std::hex << bits;
                EXPECT_EQ(std::memcmp(read_values.data(), values.data(), values.size() * 4), 0) << std::hex << bits;
                const auto with = attended(sequence);
                const size_t half = with.size() / 2; // query heads 0 and 1 have KV head 0
                EXPECT_TRUE(std::equal(with.begin(), with.begin() + static_cast<ptrdiff_t>(half), without.begin()))
                    << std::hex << bits;
                if (!in_keys) {
                    EXPECT_FALSE(std::isfinite(with[half + 3])) << std::hex << bits;
                }
                if (in_keys && std::isnan(std::bit_cast<float>(bits))) {
                    EXPECT_TRUE(std::isnan(with[half])) << std::hex << bits;
                }
            }
        }
    EXPECT_EQ(cache.stats().damaged, 0u);
    EXPECT_EQ(check(clean, all), "");
}

// Their keys and values come back after 256 tokens, so that most blocks are stored once: the lists are as long as they get.
TEST_F(CacheTest, AMillionTokensAreASequence) {
    HBF_ONE_THREAD();
    constexpr uint32_t million = 1 << 20, period = 256, width = 16;
    auto options = small(64, 64);
    options.model.layers = options.model.query_heads = options.model.kv_heads = 1;
    options.settings.kv.chunk_size = period;
    KvCache cache = must(KvCache::open(options));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, million);
    const uint32_t odd = million - 3; // the only token of its kind
    std::vector<float> keys(size_t{8} * period * width), values(keys.size());
    const auto row_of = [&](uint32_t token, bool key, float *out) {
        for (uint32_t i = 0; i < width; ++i)
            out[i] = token == odd ? (key ? 4.0f : 50.0f + i) : number(token % period, 0, 0, i, key);
    };
    for (uint32_t at = 0; at < million; at += 8 * period) {
        for (uint32_t t = 0; t < 8 * period; ++t) {
            row_of(at + t, true, keys.data() + size_t{t} * width);
            row_of(at + t, false, values.data() + size_t{t} * width);
        }
        must(sequence.append(std::span(all).subspan(at, 8 * period)));
        must(sequence.put(0, bytes_of(keys), bytes_of(values)));
    }
    EXPECT_EQ(sequence.tokens(), million);
    EXPECT_EQ(sequence.blocks(0).size(), million / period);
    EXPECT_LE(cache.stats().tiers[0].used, 4 * granule_size);

    const std::vector<float> query(width, 1.0f);
    std::vector<float> output(width);
    must(sequence.attend(0, query, output));
    std::vector<double> expected(width);
    double sum = 0;
    for (uint32_t kind = 0; kind <= period; ++kind) { // the last is the odd one, in the place of one of its kind
        std::vector<float> key(width), value(width);
        row_of(kind == period ? odd : kind, true, key.data());
        row_of(kind == period ? odd : kind, false, value.data());
        const double times = kind == period ? 1 : million / period - (kind == odd % period ? 1 : 0);
        double score = 0;
        for (uint32_t i = 0; i < width; ++i) score += key[i] / 4.0; // the square root of the width
        const double weight = times * std::exp(score - 16);
        sum += weight;
        for (uint32_t i = 0; i < width; ++i) expected[i] += weight * value[i];
    }
    double largest = 0;
    for (double &x : expected) largest = std::max(largest, std::abs(x /= sum));
    for (uint32_t i = 0; i < width; ++i) EXPECT_NEAR(output[i], expected[i], 4e-6 * largest) << i;

    std::vector<float> key(width), value(width), right(width);
    must(sequence.read(0, odd, 1, std::as_writable_bytes(std::span(key)), std::as_writable_bytes(std::span(value))));
    row_of(odd, false, right.data());
    EXPECT_EQ(value, right);
    Sequence again = must(cache.sequence(all));
    EXPECT_EQ(again.reused(), million - 1) << "all but the token that is left to compute";
    must(again.truncate(5));
    must(sequence.truncate(0));
}

TEST_F(CacheTest, BlocksAreAsSmallAndAsLargeAsTheyMayBe) {
    for (const uint32_t tokens_of_block : {16u, 256u}) {
        auto options = small(512, 512);
        options.model.layers = 1;
        options.model.query_heads = options.model.kv_heads = heads;
        options.settings.kv.chunk_size = tokens_of_block;
        for (const uint32_t width : {16u, 256u})
            for (const Element element : {Element::fp32, Element::fp16}) {
                options.model.head_dim = width;
                options.model.element = element;
                KvCache cache = must(KvCache::open(options));
                EXPECT_EQ(cache.block_tokens(0), tokens_of_block);
                Sequence sequence = must(cache.sequence());
                const uint32_t count = 2 * tokens_of_block + 1, words = heads * width * size_of(element) / 4;
                std::vector<uint32_t> keys(size_t{count} * words), values(keys.size());
                for (size_t i = 0; i < keys.size(); ++i) // 2.0 and what is near, in either format
                    keys[i] = 0x40004000u + static_cast<uint32_t>(i % 61),
                    values[i] = 0x40004000u + static_cast<uint32_t>(i % 67);
                must(sequence.append(tokens(1, count)));
                must(sequence.put(0, bytes_of(keys), bytes_of(values)));
                EXPECT_EQ(sequence.blocks(0).size(), 3u);
                EXPECT_EQ(must(cache.explain(sequence.blocks(0)[0])).tokens, tokens_of_block);
                for (const Tier tier : {Tier::hbf, Tier::hbm}) {
                    EXPECT_EQ(must(sequence.move_to(tier)), 2u) << "the last is being filled";
                    std::vector<uint32_t> k(keys.size()), v(values.size());
                    must(sequence.read(0, 0, count, std::as_writable_bytes(std::span(k)),
                                       std::as_writable_bytes(std::span(v))));
                    EXPECT_EQ(k, keys) << width;
                    EXPECT_EQ(v, values) << width;
                }
            }
        for (const double entropy : {0.0, 1e300}) { // as far as it can be driven
            options = small(512, 512);
            options.settings.kv.chunk_size = tokens_of_block;
            KvCache cache = must(KvCache::open(options));
            must(cache.report_entropy(0, 0, entropy));
            must(cache.report_entropy(1, 0, 1.0));
            Sequence sequence = must(cache.sequence());
            const auto all = tokens(1, 1500);
            must(write(sequence, all));
            EXPECT_EQ(check(sequence, all), "");
            for (const BlockId block : sequence.blocks(0)) {
                const uint32_t size = must(cache.explain(block)).capacity;
                EXPECT_TRUE(size >= 16 && size <= 256 && size % 16 == 0) << size;
            }
        }
    }
    for (const uint32_t none : {0u, 15u, 17u, 257u, 272u}) {
        auto options = small();
        options.settings.kv.chunk_size = none;
        EXPECT_EQ(code_of(KvCache::open(options)), Code::invalid) << none;
    }
}

// Blocks whose granules lie beyond 4 GiB of a tier. The memory below is asked for and never touched.
TEST_F(CacheTest, BlocksBeyondFourGigabytesOfATier) {
    constexpr uint64_t below = (uint64_t{4} << 30) / granule_size;
    auto options = small(below + 64, below + 64);
    options.model.layers = 1;
    options.model.query_heads = options.model.kv_heads = 4;
    options.model.head_dim = 128; // 16 tokens are a granule to the byte: nothing beside them is cleared
    options.show = false;
    const auto core = must(CacheCore::make(options));
    KvCache cache(core);
    std::vector<BlockId> others;
    for (uint64_t i = 0; i < below; ++i) others.push_back(must(core->new_block({0, 0, 16})));
    Sequence sequence = must(cache.sequence());
    std::vector<float> keys(40 * 512), values(keys.size());
    for (size_t i = 0; i < keys.size(); ++i)
        keys[i] = static_cast<float>(i % 1009), values[i] = -static_cast<float>(i % 1013);
    must(sequence.append(tokens(1, 40)));
    must(sequence.put(0, bytes_of(keys), bytes_of(values)));
    EXPECT_GE(cache.stats().tiers[0].used, (below + 3) * granule_size);
    for (const Tier tier : {Tier::hbm, Tier::hbf, Tier::hbm}) {
        must(sequence.move_to(tier));
        std::vector<float> k(keys.size()), v(values.size());
        must(sequence.read(0, 0, 40, std::as_writable_bytes(std::span(k)), std::as_writable_bytes(std::span(v))));
        EXPECT_EQ(k, keys);
        EXPECT_EQ(v, values);
    }
    for (const BlockId block : others) core->release(block);
}

TEST_F(CacheTest, AHundredSequencesAreThereAtOnce) {
    KvCache cache = must(KvCache::open(small(512, 2048)));
    std::barrier all_there(5), counted(5);
    const auto work = [&](uint32_t number) {
        std::vector<std::pair<Sequence, std::vector<uint32_t>>> mine;
        for (uint32_t i = 0; i < 25; ++i) {
            if (i % 2 == 0) {
                mine.emplace_back(must(cache.sequence()), tokens(number * 10000 + i * 100, 20 + i));
                must(write(mine.back().first, mine.back().second));
            } else {
                mine.emplace_back(must(mine.back().first.fork()), mine.back().second);
            }
        }
        all_there.arrive_and_wait();
        counted.arrive_and_wait();
        for (uint32_t i = 0; i < 25; ++i) {
            auto &[sequence, its] = mine[i];
            const auto more = tokens(number * 10000 + i * 100 + 50, 10 + i);
            must(write(sequence, more));
            its.insert(its.end(), more.begin(), more.end());
            if (i % 5 == 4) mine[i - 1] = {must(sequence.fork()), its}; // the one before is dropped
        }
        for (auto &[sequence, its] : mine) EXPECT_EQ(check(sequence, its), "");
    };
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 4; ++i) threads.emplace_back(work, i);
    all_there.arrive_and_wait();
    EXPECT_EQ(cache.stats().sequences, 100u);
    counted.arrive_and_wait();
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(cache.stats().sequences, 0u);
}

TEST_F(CacheTest, TwoCachesOnOneDeviceDoNotMeet) {
    KvCache caches[2] = {must(KvCache::open(small(24, 200))), must(KvCache::open(small(24, 200)))};
    std::vector<std::thread> threads;
    for (uint32_t which = 0; which < 2; ++which)
        threads.emplace_back([&, which] {
            for (uint32_t round = 0; round < 20; ++round) {
                Sequence sequence = must(caches[which].sequence());
                const auto all = tokens(which * 100000 + round, 70); // many of the same numbers as in the other
                must(write(sequence, all));
                must(sequence.move_to(Tier::hbf));
                EXPECT_EQ(check(sequence, all), "");
            }
        });
    for (std::thread &thread : threads) thread.join();
    for (KvCache &cache : caches) {
        EXPECT_EQ(cache.stats().damaged, 0u);
        EXPECT_GT(cache.stats().migrations, 0u);
    }
}

// Half of the context is on a device that goes away while tokens are decoded: the same tokens come out in the end.
TEST_F(CacheTest, APluginLostMidDecodeCostsWorkButNoToken) {
    Device other = open("b");
    const auto decode = [&](bool loses) {
        auto options = small(200, 0);
        options.hbf = Place{other, vram, 64 * granule_size};
        KvCache cache = must(KvCache::open(options));
        Sequence sequence = must(cache.sequence());
        auto all = tokens(1, 64);
        must(write(sequence, all));
        for (size_t i = 2; i < 4; ++i)
            for (uint32_t layer = 0; layer < 2; ++layer) must(cache.migrate(sequence.blocks(layer)[i], Tier::hbf));
        uint32_t errors = 0;
        for (uint32_t step = 0; step < 24; ++step) {
            if (loses && step == 10) other_script.lost = true;
            std::vector<float> query(4 * dim), output(4 * dim);
            for (size_t i = 0; i < query.size(); ++i) query[i] = number(all.back(), step, 0, static_cast<uint32_t>(i), true);
            for (auto done = sequence.attend(1, query, output); !done; done = sequence.attend(1, query, output)) {
                EXPECT_LT(++errors, 3u) << done.error().message;
                if (errors >= 3) return std::vector<uint32_t>();
                EXPECT_TRUE(contains(done.error().message, "compute")) << done.error().message;
                must(sequence.truncate(32)); // where it says; then those tokens once more
                must(write(sequence, std::span(all).subspan(32)));
            }
            uint32_t next = 0;
            std::memcpy(&next, &output[step % output.size()], sizeof next); // differs if a single bit does
            all.push_back(next % 50000);
            must(write(sequence, std::span(all).last(1)));
        }
        EXPECT_EQ(errors, loses ? 1u : 0u);
        EXPECT_EQ(check(sequence, all), "");
        return all;
    };
    const auto expected = decode(false);
    EXPECT_EQ(decode(true), expected);
}

} // namespace
} // namespace hbf::kv
