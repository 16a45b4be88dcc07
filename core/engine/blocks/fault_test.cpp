// SPDX-License-Identifier: Apache-2.0
// Moves, room, and what goes wrong on the way: a correct answer or a clear error, never other bytes.
#include <thread>

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/blocks/cache_fixture.hpp"

namespace hbf::kv {
namespace {

TEST_F(CacheTest, MovesVerifyPublishAndKeepTheLowerCopy) {
    KvCache cache = must(KvCache::open(small()));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 32);
    must(write(sequence, all));
    const BlockId block = sequence.blocks(0)[0];
    const uint64_t generation = must(cache.explain(block)).generation;
    must(cache.migrate(block, Tier::hbf));
    EXPECT_EQ(must(cache.explain(block)).tier, Tier::hbf);
    EXPECT_EQ(must(cache.explain(block)).generation, generation + 1);
    must(cache.migrate(block, Tier::hbm));
    EXPECT_TRUE(must(cache.explain(block)).lower_copy);
    auto stats = cache.stats();
    EXPECT_EQ(stats.migrated[0][1], granule_size);
    EXPECT_EQ(stats.migrated[1][0], granule_size);
    EXPECT_EQ(stats.tiers[1].lower_copies, 1u);
    must(cache.migrate(block, Tier::hbf));
    stats = cache.stats();
    EXPECT_EQ(stats.migrated[0][1], granule_size) << "the copy below was still there, and was right";
    EXPECT_EQ(stats.published_without_copy, 1u);
    EXPECT_EQ(stats.migrations, 3u);
    EXPECT_EQ(stats.tiers[0].waiting, 0u);
    EXPECT_EQ(check(sequence, all), "");
    EXPECT_EQ(code_of(cache.migrate(block, Tier::cold)), Code::unsupported);
    EXPECT_EQ(code_of(cache.migrate(123456, Tier::hbf)), Code::invalid);
    must(write(sequence, tokens(50, 1)));
    EXPECT_EQ(code_of(cache.migrate(sequence.blocks(0)[2], Tier::hbf)), Code::invalid) << "being filled";
}

TEST_F(CacheTest, UnderPressureBlocksGoDownAndComeBackRight) {
    auto options = small(8, 64);
    options.cold = Place{device, cold, 64 * granule_size};
    KvCache cache = must(KvCache::open(options));
    std::vector<Sequence> sequences;
    for (uint32_t i = 0; i < 6; ++i) {
        sequences.push_back(must(cache.sequence()));
        must(write(sequences.back(), tokens(1000 * i, 64))); // 8 blocks each
    }
    const auto stats = cache.stats();
    EXPECT_LE(stats.tiers[0].used, stats.tiers[0].budget);
    EXPECT_GE(stats.tiers[1].blocks, 40u);
    for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(check(sequences[i], tokens(1000 * i, 64)), "");
}

TEST_F(CacheTest, WhatNobodyHoldsMakesRoom) {
    KvCache cache = must(KvCache::open(small(8, 0)));
    for (uint32_t i = 0; i < 10; ++i) {
        Sequence sequence = must(cache.sequence());
        must(write(sequence, tokens(1000 * i, 64)));
        EXPECT_EQ(check(sequence, tokens(1000 * i, 64)), "");
    }
    EXPECT_EQ(cache.stats().dropped_blocks, 72u);
    const auto last = tokens(9000, 65);
    EXPECT_EQ(must(cache.sequence(last)).reused(), 64u);
}

TEST_F(CacheTest, FullIsAnErrorAndTheSequenceGoesOn) {
    KvCache cache = must(KvCache::open(small(9, 0)));
    Sequence first = must(cache.sequence()), second = must(cache.sequence());
    const auto all = tokens(1, 48);
    must(write(first, all));
    const auto full = write(second, tokens(500, 48));
    ASSERT_EQ(code_of(full), Code::exhausted);
    EXPECT_TRUE(contains(full.error().message, "give a larger budget, or drop sequences")) << full.error().message;
    EXPECT_EQ(second.tokens(), 0u);
    must(write(second, tokens(500, 16)));
    EXPECT_EQ(check(first, all), "");
    EXPECT_EQ(check(second, tokens(500, 16)), "");

    auto more = tokens(500, 64);
    const auto step = std::span(more).subspan(16);
    must(second.append(step));
    const auto put = [&](uint32_t layer) {
        const auto keys = rows(step, 16, layer, true), values = rows(step, 16, layer, false);
        return second.put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values)));
    };
    EXPECT_EQ(code_of(put(0)), Code::exhausted);
    {
        Sequence gone = std::move(first);
    }
    must(put(0)); // again, as if it had not been tried
    must(put(1));
    EXPECT_EQ(check(second, more), "");
}

TEST_F(CacheTest, WhatAReaderLooksAtStaysUntilItHasLooked) {
    const auto core = must(CacheCore::make(small(10, 64)));
    KvCache cache(core);
    Sequence read = must(cache.sequence());
    const auto all = tokens(1, 32);
    must(write(read, all));
    const BlockId block = read.blocks(0)[0];
    std::vector<std::byte> before(granule_size);
    const CacheCore::Lease worker(*core);
    must(core->with_bytes(*worker, block, [&](const std::byte *bytes) { std::memcpy(before.data(), bytes, granule_size); }));
    must(core->with_bytes(*worker, block, [&](const std::byte *bytes) {
        must(cache.migrate(block, Tier::hbf));
        Sequence other = must(cache.sequence());
        must(write(other, tokens(900, 48))); // 6 blocks; with the reader's 4 HBM has 10, so its old place is wanted
        EXPECT_EQ(std::memcmp(bytes, before.data(), granule_size), 0);
        EXPECT_EQ(cache.stats().tiers[0].waiting, granule_size);
    }));
    EXPECT_EQ(cache.stats().tiers[0].waiting, 0u);
    EXPECT_EQ(check(read, all), "");
}

TEST_F(CacheTest, BudgetsChangeAtRunTime) {
    auto options = small(128, 128);
    KvCache cache = must(KvCache::open(options));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 640); // 80 blocks
    must(write(sequence, all));
    must(cache.set_budget(Tier::hbm, 32 * granule_size));
    auto stats = cache.stats();
    EXPECT_LE(stats.tiers[0].used, 32 * granule_size);
    EXPECT_EQ(check(sequence, all), "");
    const auto refused = cache.set_budget(Tier::hbf, 16 * granule_size);
    ASSERT_EQ(code_of(refused), Code::exhausted);
    EXPECT_EQ(cache.stats().tiers[1].budget, 128 * granule_size);
    EXPECT_EQ(code_of(cache.set_budget(Tier::hbm, 0)), Code::invalid);
    EXPECT_EQ(code_of(cache.set_budget(Tier::hbm, uint64_t{1} << 50)), Code::invalid);
    EXPECT_EQ(code_of(cache.set_budget(Tier::cold, granule_size)), Code::unsupported);
    must(cache.set_budget(Tier::hbm, 256 * granule_size));
    EXPECT_EQ(check(sequence, all), "");
}

TEST_F(CacheTest, DefragmentationBringsItUnderTheBar) {
    auto options = small(256, 0);
    options.model.layers = 1;
    options.model.kv_heads = 4; // so that 256 tokens are 2 granules
    options.model.head_dim = 16;
    KvCache cache = must(KvCache::open(options));
    std::vector<Sequence> sequences;
    const auto wide = [](uint32_t first) {
        std::vector<float> all(16 * 64);
        for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(first + i);
        return all;
    };
    for (uint32_t i = 0; i < 256; ++i) {
        sequences.push_back(must(cache.sequence()));
        must(sequences.back().append(tokens(i * 100, 16)));
        const auto rows = wide(i);
        must(sequences.back().put(0, std::as_bytes(std::span(rows)), std::as_bytes(std::span(rows))));
    }
    must(cache.set_budget(Tier::hbm, 256 * granule_size));
    std::vector<Sequence> kept;
    std::vector<uint32_t> which;
    for (uint32_t i = 0; i < 256; ++i)
        if (i % 2 == 0) {
            kept.push_back(std::move(sequences[i]));
            which.push_back(i);
        }
    sequences.clear();
    // What was dropped can still be found; a smaller budget lets it go.
    must(cache.set_budget(Tier::hbm, 128 * granule_size));
    must(cache.set_budget(Tier::hbm, 256 * granule_size));
    const double before = cache.stats().tiers[0].fragmentation;
    EXPECT_GT(before, 0.15) << "the test has nothing to do";
    EXPECT_GT(must(cache.defragment(Tier::hbm)), 0u);
    EXPECT_LE(cache.stats().tiers[0].fragmentation, 0.15);
    for (size_t k = 0; k < kept.size(); ++k) {
        std::vector<float> keys(16 * 64), values(16 * 64);
        must(kept[k].read(0, 0, 16, std::as_writable_bytes(std::span(keys)), std::as_writable_bytes(std::span(values))));
        ASSERT_EQ(keys, wide(which[k])) << k;
    }
    EXPECT_EQ(code_of(cache.defragment(Tier::hbm, 2)), Code::invalid);
}

// A fault on the way to a colder tier: tried once more; the block stays readable whatever comes of it.
TEST_F(CacheTest, AFaultOnTheWayLeavesTheBlockWhereItWas) {
    for (auto fault : {&Script::flip_bit, &Script::drop_copy, &Script::fail_copy, &Script::short_read}) {
        KvCache cache = must(KvCache::open(small()));
        Sequence sequence = must(cache.sequence());
        const auto all = tokens(1, 32);
        must(write(sequence, all));
        const BlockId block = sequence.blocks(0)[0];
        script.*fault = 1;
        const auto moved = cache.migrate(block, Tier::hbf);
        script.*fault = 0;
        const auto stats = cache.stats();
        EXPECT_EQ(stats.damaged + stats.failed_transfers, 1u);
        EXPECT_EQ(must(cache.explain(block)).tier, moved ? Tier::hbf : Tier::hbm);
        EXPECT_EQ(check(sequence, all), "");
        must(cache.migrate(block, Tier::hbf));
        EXPECT_EQ(check(sequence, all), "");
    }
}

// Faults while a block that only the device reaches is read: it is read again.
TEST_F(CacheTest, AFaultWhileReadingIsReadAgain) {
    KvCache cache = must(KvCache::open(small()));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 32);
    must(write(sequence, all));
    must(sequence.move_to(Tier::hbf));
    const auto before = attended(sequence);
    for (auto fault : {&Script::flip_bit, &Script::drop_copy, &Script::fail_copy, &Script::short_read})
        for (int nth = 1; nth < 4; ++nth) {
            script.*fault = nth;
            EXPECT_EQ(check(sequence, all), "");
            script.*fault = nth;
            EXPECT_EQ(attended(sequence), before);
            script.*fault = 0;
        }
    EXPECT_GT(cache.stats().recovered, 0u);
}

TEST_F(CacheTest, DamageAtRestIsToldAndNeverMoved) {
    auto options = small();
    options.hbf = Place{device, soft, 64 * granule_size};
    const auto core = must(CacheCore::make(options));
    KvCache cache(core);
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 32);
    must(write(sequence, all));
    const BlockId block = sequence.blocks(0)[0];
    core->memory(block)[100] ^= std::byte{1}; // somebody's stray write
    const auto moved = cache.migrate(block, Tier::hbf);
    ASSERT_EQ(code_of(moved), Code::data_loss) << "a wrong block is not taken along";
    EXPECT_TRUE(must(cache.explain(block)).lost);
    EXPECT_TRUE(contains(check(sequence, all), "compute it again"));
    auto longer = all;
    longer.push_back(1);
    EXPECT_EQ(must(cache.sequence(longer)).reused(), 0u) << "nobody finds it any more";
    must(sequence.truncate(0)); // what the message says
    must(write(sequence, all));
    EXPECT_EQ(check(sequence, all), "");
}

// What somebody wrote into memory that is read in place: found before it is used, if that is wanted.
TEST_F(CacheTest, VerifiedReadsFindWhatWasSpoiledInPlace) {
    auto options = small();
    options.hbf = Place{device, soft, 64 * granule_size};
    options.verify_reads = true;
    const auto core = must(CacheCore::make(options));
    KvCache cache(core);
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 40); // 2 blocks and a half
    must(write(sequence, all));
    const auto before = attended(sequence);
    const auto spoil = [&](size_t which) { core->memory(sequence.blocks(0)[which])[200] ^= std::byte{8}; };
    const BlockId first = sequence.blocks(0)[0];
    must(cache.migrate(first, Tier::hbf));
    must(cache.migrate(first, Tier::hbm)); // with a copy below
    spoil(0);
    EXPECT_EQ(attended(sequence), before) << "from the copy below";
    EXPECT_EQ(cache.stats().recovered, 1u);
    EXPECT_EQ(must(cache.explain(first)).tier, Tier::hbf);
    for (const size_t which : {1u, 2u}) { // sealed, being filled
        spoil(which);
        std::vector<float> query(4 * dim, 1), output(4 * dim);
        const auto lost = sequence.attend(0, query, output);
        ASSERT_EQ(code_of(lost), Code::data_loss);
        EXPECT_TRUE(contains(lost.error().message, "compute them again")) << lost.error().message;
        EXPECT_TRUE(contains(check(sequence, all), "compute")) << "told each time";
        must(sequence.truncate(16 * which));
        must(write(sequence, std::span(all).subspan(16 * which)));
        EXPECT_EQ(attended(sequence), before);
    }
    spoil(2);
    EXPECT_EQ(code_of(write(sequence, tokens(900, 1))), Code::data_loss) << "or the wrong bytes would be sealed as right";
    Sequence fork = must(sequence.fork());
    EXPECT_EQ(code_of(write(fork, tokens(900, 1))), Code::data_loss) << "nor copied";
    must(sequence.truncate(32));
    must(write(sequence, std::span(all).subspan(32)));
    EXPECT_EQ(check(sequence, all), "");
}

TEST_F(CacheTest, ALostDeviceIsAnErrorAndWhatIsElsewhereStaysReadable) {
    Device other = open("b");
    auto options = small();
    options.hbf = Place{other, vram, 64 * granule_size};
    KvCache cache = must(KvCache::open(options));
    Sequence here = must(cache.sequence()), there = must(cache.sequence());
    const auto a = tokens(1, 32), b = tokens(700, 32);
    must(write(here, a));
    must(write(there, b));
    must(there.move_to(Tier::hbf));
    other_script.lost = true;
    EXPECT_EQ(check(here, a), "");
    EXPECT_TRUE(contains(check(there, b), "compute them again"));
    EXPECT_FALSE(cache.migrate(here.blocks(0)[0], Tier::hbf));
    EXPECT_EQ(check(here, a), "");
    EXPECT_GT(cache.stats().failed_transfers, 0u);
}

TEST_F(CacheTest, ALateTransferIsAMiss) {
    auto options = small();
    options.deadline = std::chrono::milliseconds(5);
    KvCache cache = must(KvCache::open(options));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 32);
    must(write(sequence, all));
    script.manual = true;
    script.cancel_works = false;
    ASSERT_EQ(code_of(cache.migrate(sequence.blocks(0)[0], Tier::hbf)), Code::timeout);
    EXPECT_EQ(cache.stats().expired_transfers, 1u);
    EXPECT_EQ(check(sequence, all), "");
    EXPECT_EQ(cache.stats().tiers[1].used, granule_size) << "the device may still write there";
    script.manual = false;
    script.run();
    EXPECT_EQ(check(sequence, all), "");
    (void)cache.migrate(sequence.blocks(0)[0], Tier::hbf);
    EXPECT_EQ(check(sequence, all), "");
}

TEST_F(CacheTest, InTheBackgroundBlocksLeaveATierThatIsFullerThanItShouldBe) {
    auto options = small(512, 512);
    options.background = true;
    options.settings.kv.swap_threshold = 0.02; // 10 blocks; nothing else would ever move one
    KvCache cache = must(KvCache::open(options));
    Sequence sequence = must(cache.sequence());
    auto all = tokens(1, 128);
    must(write(sequence, all));
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (cache.stats().tiers[1].blocks == 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_GT(cache.stats().tiers[1].blocks, 0u);
    EXPECT_EQ(check(sequence, all), "");
}

} // namespace
} // namespace hbf::kv
