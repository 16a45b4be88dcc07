// SPDX-License-Identifier: Apache-2.0
// What a cache does is on its page.
#include <unistd.h>

#include "core/engine/blocks/cache_fixture.hpp"
#include "core/engine/observe/view.hpp"

namespace hbf::kv {
namespace {

using observe::Counter;

observe::View page_of_this_process() {
    const auto files = observe::find_pages_of(static_cast<uint32_t>(::getpid()));
    EXPECT_EQ(files.size(), 1u);
    return must(observe::View::open(files.front()));
}

TEST_F(CacheTest, WhatItDoesIsOnItsPage) {
    auto options = small();
    options.name = "tiny";
    KvCache cache = must(KvCache::open(options));
    EXPECT_TRUE(cache.stats().shown);
    const auto page = page_of_this_process();
    EXPECT_EQ(page.name(), "tiny");
    const auto prompt = tokens(1, 64);
    Sequence first = must(cache.sequence(prompt));
    EXPECT_EQ(page.counter(Counter::miss_never_stored), 1u);
    must(write(first, prompt));
    EXPECT_EQ(page.counter(Counter::filled_blocks), 8u); // 4 of each layer
    EXPECT_EQ(page.header().scheduler.sequences, 1u);
    EXPECT_EQ(page.header().tiers[0].used, cache.stats().tiers[0].used);
    const BlockId block = first.blocks(1)[2];
    EXPECT_EQ(page.block(block)->tiers, 1);
    EXPECT_EQ(page.block(block)->layer, 1);
    EXPECT_EQ(page.block(block)->tokens, 15); // less one

    must(cache.migrate(block, Tier::hbf));
    EXPECT_EQ(page.block(block)->tiers, 2);
    const auto down = page.events(1).at(0);
    EXPECT_EQ(down.block, block);
    EXPECT_EQ(down.from, 0);
    EXPECT_EQ(down.to, 1);
    EXPECT_EQ(down.reason, observe::Reason::asked);
    EXPECT_EQ(down.outcome, observe::Outcome::done);
    EXPECT_EQ(page.counter(Counter::moved_down_bytes), granule_size);
    must(cache.migrate(block, Tier::hbm)); // its copy below stays
    EXPECT_EQ(page.block(block)->tiers, 3);
    must(cache.migrate(block, Tier::hbf));
    EXPECT_EQ(page.events(1).at(0).outcome, observe::Outcome::spared);

    Sequence second = must(cache.sequence(prompt));
    EXPECT_EQ(page.counter(Counter::hit_tokens), 63u);
    EXPECT_EQ(page.counter(Counter::lookups), 2u);
    (void)must(cache.sequence(tokens(500, 9)));
    EXPECT_EQ(page.counter(Counter::miss_short), 1u);
}

TEST_F(CacheTest, WhatWasDroppedForRoomIsToldFromWhatWasNeverThere) {
    KvCache cache = must(KvCache::open(small(16, 0)));
    const auto page = page_of_this_process();
    const auto prompt = tokens(1, 64);
    {
        Sequence first = must(cache.sequence(prompt));
        must(write(first, prompt));
    }
    {
        Sequence other = must(cache.sequence());
        must(write(other, tokens(5000, 120)));
    }
    EXPECT_GT(page.counter(Counter::dropped_blocks), 0u);
    const auto before = page.counter(Counter::miss_evicted);
    EXPECT_LT(must(cache.sequence(prompt)).reused(), 63u);
    EXPECT_EQ(page.counter(Counter::miss_evicted), before + 1);
}

TEST_F(CacheTest, WhoWantsNoPageHasNone) {
    auto options = small();
    options.show = false;
    KvCache cache = must(KvCache::open(options));
    EXPECT_FALSE(cache.stats().shown);
    EXPECT_TRUE(observe::find_pages_of(static_cast<uint32_t>(::getpid())).empty());
    Sequence sequence = must(cache.sequence());
    must(write(sequence, tokens(1, 40)));
}

} // namespace
} // namespace hbf::kv
