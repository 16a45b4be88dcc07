// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/prefetch/compare.hpp"
#include "core/engine/prefetch/ledger.hpp"
#include "core/engine/prefetch/lstm.hpp"
#include "core/engine/prefetch/pattern.hpp"
#include "core/engine/prefetch/prefetcher.hpp"
#include "core/engine/prefetch/returns.hpp"

namespace hbf::kv::prefetch {
namespace {

Recognizer after(std::initializer_list<uint64_t> positions) {
    Recognizer reader;
    for (const uint64_t position : positions) reader.access(position);
    return reader;
}

TEST(Recognizer, TellsReadersApart) {
    EXPECT_EQ(after({}).pattern(), Pattern::unknown);
    EXPECT_EQ(after({5, 6, 7}).pattern(), Pattern::unknown);
    EXPECT_EQ(after({5, 6, 7, 8}).pattern(), Pattern::sequential);
    EXPECT_EQ(after({5, 9, 13, 17}).pattern(), Pattern::strided);
    EXPECT_EQ(after({17, 13, 9, 5}).pattern(), Pattern::strided);
    EXPECT_EQ(after({5, 6, 7, 99}).pattern(), Pattern::jumping);
    EXPECT_EQ(after({5, 5, 5, 5}).pattern(), Pattern::jumping);
    EXPECT_EQ(after({5, 6, 7, 99, 100, 101, 102}).pattern(), Pattern::sequential); // it changes its ways
}

TEST(Recognizer, SaysWhatFollows) {
    uint64_t next[3] = {};
    EXPECT_EQ(after({5, 9, 13, 17}).next(next), 3u);
    EXPECT_EQ(std::vector(next, next + 3), (std::vector<uint64_t>{21, 25, 29}));
    EXPECT_EQ(after({17, 13, 9, 5}).next(next), 1u); // not below 0
    EXPECT_EQ(next[0], 1u);
    EXPECT_EQ(after({1, 2, 3, 50}).next(next), 0u);
}

TEST(Successors, KnowTheLatestAndTheOther) {
    Successors table(10);
    table.follow(no_block, 1, 2);
    table.follow(no_block, 1, 2);
    table.follow(no_block, 1, 3);
    table.follow(7, 1, 4);
    const auto &row = table.row(1);
    EXPECT_EQ(row.last, 4u);
    EXPECT_EQ(row.other, 3u);
    EXPECT_EQ(row.total, 4u);
    EXPECT_EQ(row.children, 3u);
    EXPECT_EQ(table.after(7, 1), 4u);
    EXPECT_EQ(table.after(8, 1), no_block);
    table.follow(no_block, 1, 3);
    EXPECT_EQ(table.row(1).last_count, 2u); // 3 came back, and its count with it
    EXPECT_EQ(table.row(1).children, 3u);
    table.forget(1);
    EXPECT_EQ(table.last(1), no_block);
    EXPECT_EQ(table.last(99), no_block); // no such block
}

// Reads `chain` n times as requests of their own.
void read(SmartPrefetch &model, SmartPrefetch::Reader &reader, const std::vector<BlockId> &chain, int times = 1) {
    for (int i = 0; i < times; ++i) {
        model.end(reader);
        for (const BlockId block : chain) model.access(reader, block);
    }
}

TEST(SmartPrefetch, IsSureOfAChainAndNotOfABranch) {
    SmartPrefetch model(100);
    SmartPrefetch::Reader reader, other; // two who read in their own ways
    std::vector<BlockId> chain(20);
    for (BlockId i = 0; i < 20; ++i) chain[i] = 10 + i;
    read(model, reader, chain, 30);
    for (int i = 0; i < 100; ++i) read(model, other, {50, 51, static_cast<BlockId>(60 + i % 20), 90});
    Guess guesses[3];
    read(model, reader, {chain.begin(), chain.begin() + 12});
    ASSERT_EQ(model.next(reader, guesses), 3u);
    EXPECT_GT(guesses[2].probability, 0.8F);
    EXPECT_EQ(std::set({guesses[0].block, guesses[1].block, guesses[2].block}), (std::set<BlockId>{22, 23, 24}));
    read(model, other, {50, 51});
    const size_t count = model.next(other, guesses);
    for (size_t i = 0; i < count; ++i) EXPECT_LT(guesses[i].probability, i == 0 ? 1.01F : 0.8F) << guesses[i].block;
    EXPECT_EQ(allowed(Gate{}, {guesses, count}, 0), 0u); // the best two are not both sure
}

TEST(SmartPrefetch, NamesOnlyWhatSomebodyRead) {
    SmartPrefetch model(100);
    SmartPrefetch::Reader reader;
    for (BlockId i = 0; i < 50; ++i) {
        model.access(reader, i);
        Guess guesses[3];
        EXPECT_EQ(model.next(reader, guesses), 0u) << i; // the step repeated would be right, and is not there
    }
    model.access(reader, 1000); // no such block: nothing happens
}

TEST(SmartPrefetch, WhatItLearntCanBeKept) {
    SmartPrefetch taught(100), fresh(100);
    SmartPrefetch::Reader reader;
    read(taught, reader, {1, 2, 3, 4, 5, 6, 7, 8}, 50);
    ASSERT_TRUE(fresh.load(taught.save()));
    EXPECT_EQ(fresh.save(), taught.save());
    EXPECT_FALSE(fresh.load("hbf smart-prefetch 99 14\n"));
    EXPECT_FALSE(fresh.load("rubbish"));
    EXPECT_FALSE(fresh.load("hbf smart-prefetch 1 14\n1\n2\nnan\n"));
    EXPECT_EQ(fresh.save(), taught.save()); // a refusal changes nothing
}

TEST(Gate, HoldsBackWhereItIsNotSureOrMemoryIsShort) {
    const Guess sure[] = {{1, 0.9F}, {2, 0.85F}, {3, 0.81F}}, unsure[] = {{1, 0.9F}, {2, 0.79F}};
    EXPECT_EQ(allowed({}, sure, 0.69), 2u); // depth
    EXPECT_EQ(allowed({.depth = 3}, sure, 0.69), 3u);
    EXPECT_EQ(allowed({}, sure, 0.7), 0u);
    EXPECT_EQ(allowed({}, unsure, 0), 0u);
    EXPECT_EQ(allowed({.sure = 0.7}, unsure, 0), 2u);
    EXPECT_EQ(allowed({}, {sure, 1}, 0), 1u); // one alone
    EXPECT_EQ(allowed({}, {}, 0), 0u);
    const Guess broken[] = {{1, NAN}};
    EXPECT_EQ(allowed({}, broken, 0), 0u);
}

TEST(Ledger, EachFetchEndsAsOneOfThree) {
    Ledger ledger;
    for (const BlockId block : {1u, 2u, 3u}) ledger.fetching(block, 100);
    ledger.arrived(1);
    ledger.used(1);
    ledger.used(2); // before it came
    ledger.arrived(3);
    ledger.dropped(3);
    ledger.used(3);    // it is not counted twice
    ledger.dropped(9); // was never fetched
    EXPECT_EQ(ledger.bytes().useful, 100u);
    EXPECT_EQ(ledger.bytes().late, 100u);
    EXPECT_EQ(ledger.bytes().wasted, 100u);
    EXPECT_EQ(ledger.open(), 0u);
}

TEST(Contest, TheModelServesOnlyWhileItLeads) {
    Contest contest;
    EXPECT_FALSE(contest.model_on());
    for (int i = 0; i < 100; ++i) contest.count(2, 0, 1, 1);
    EXPECT_TRUE(contest.model_on());
    for (int i = 0; i < 1000; ++i) contest.count(1, 1, 2, 0);
    EXPECT_FALSE(contest.model_on());
    EXPECT_LT(contest.lead(), 0);
}

TEST(Lstm, ItsGradientIsTheSlopeOfItsLoss) {
    Lstm lstm(3);
    const std::vector<uint8_t> inputs = {1, 5, 2, 5, 9, 31, 0, 5};
    const auto slopes = lstm.gradient(inputs, 7);
    double worst = 0;
    for (size_t i = 0; i < slopes.size(); i += 37) {
        constexpr float step = 1e-2F;
        float &weight = lstm.weights()[i];
        const float kept = weight;
        weight = kept + step;
        const float above = lstm.loss(inputs, 7);
        weight = kept - step;
        const float below = lstm.loss(inputs, 7);
        weight = kept;
        worst = std::max(worst, std::abs((above - below) / (2.0 * step) - slopes[i]));
    }
    EXPECT_LT(worst, 2e-3);
}

TEST(Lstm, LearnsWhatTakesMemory) { // after 1 2 comes 3, after 4 2 comes 5
    Lstm lstm;
    for (int i = 0; i < 600; ++i) {
        lstm.learn(std::vector<uint8_t>{1, 2}, 3);
        lstm.learn(std::vector<uint8_t>{4, 2}, 5);
    }
    EXPECT_GT(lstm.probabilities(std::vector<uint8_t>{1, 2})[3], 0.8F);
    EXPECT_GT(lstm.probabilities(std::vector<uint8_t>{4, 2})[5], 0.8F);
}

TEST(Compare, AllKnowAChainAndOnlyTheLearnersDoubt) {
    std::vector<std::vector<BlockId>> requests;
    BlockId fresh = 40;
    for (int i = 0; i < 200; ++i) { // a chain that all read, and then something new each time
        std::vector<BlockId> request(30);
        for (BlockId k = 0; k < 30; ++k) request[k] = k;
        for (int k = 0; k < 4; ++k) request.push_back(fresh++);
        requests.push_back(request);
    }
    const auto scores = compare(requests, fresh, 0.5, false);
    ASSERT_EQ(scores.size(), 2u);
    EXPECT_EQ(scores[0].predictor, "last successor");
    EXPECT_GT(scores[0].recall(), 0.99);
    EXPECT_GT(scores[1].recall(), 0.97);
    EXPECT_GT(scores[1].precision(), scores[0].precision() + 0.02);
    EXPECT_GT(scores[0].branches, 150u);
}

// Chains that all go on the same way, up to a point where each request goes on by itself.
void serve(Prefetcher &prefetcher, Prefetcher::Reader &reader, BlockId fresh, size_t &asked_at_branch) {
    BlockId out[4];
    for (BlockId block = 0; block < 10; ++block) {
        const size_t count = prefetcher.read(reader, block, {}, 0, out);
        if (block == 9) asked_at_branch = count;
    }
    for (BlockId block = fresh; block < fresh + 3; ++block) prefetcher.read(reader, block, {}, 0, out);
    prefetcher.end(reader);
}

TEST(Prefetcher, GuessesNothingWhereTheChainIsKnown) {
    Prefetcher prefetcher(100);
    Prefetcher::Reader reader;
    const BlockId known[] = {50, 60, 70};
    BlockId out[4];
    EXPECT_EQ(prefetcher.read(reader, 1, known, 0, out), 2u); // depth
    EXPECT_EQ(out[0], 50u);
    EXPECT_EQ(out[1], 60u);
    EXPECT_EQ(prefetcher.read(reader, 1, known, 0.9, out), 0u); // memory is short
    EXPECT_EQ(prefetcher.read(reader, 1, known, 0, std::span(out).first(1)), 1u);
}

TEST(Prefetcher, TakesTheModelOnceThatIsBetter) {
    Prefetcher prefetcher(2000);
    Prefetcher::Reader reader;
    size_t at_branch = 0;
    for (BlockId i = 0; i < 3; ++i) serve(prefetcher, reader, 100 + 3 * i, at_branch);
    EXPECT_FALSE(prefetcher.contest().model_on());
    EXPECT_EQ(at_branch, 2u); // what followed last: wrong each time
    for (BlockId i = 3; i < 300; ++i) serve(prefetcher, reader, 100 + 3 * i, at_branch);
    EXPECT_TRUE(prefetcher.contest().model_on());
    EXPECT_EQ(at_branch, 0u);
    BlockId out[4];
    for (BlockId block = 0; block < 6; ++block) prefetcher.read(reader, block, {}, 0, out);
    EXPECT_EQ(prefetcher.read(reader, 6, {}, 0, out), 2u);
    EXPECT_EQ(std::set({out[0], out[1]}), (std::set<BlockId>{7, 8}));
}

TEST(Returns, LearnWhichSessionsComeBack) {
    Returns returns(60);
    float coming = 0, going = 0;
    for (int i = 0; i < 300; ++i) {
        const double now = 100.0 * i;
        const auto back = static_cast<BlockId>(2 * i), gone = static_cast<BlockId>(2 * i + 1);
        coming = returns.ended(back, {.blocks = 20, .reused = 18, .turns = 3, .gap_seconds = 10}, now);
        going = returns.ended(gone, {.blocks = 20, .reused = 0, .turns = 1, .gap_seconds = 0}, now);
        returns.used(back, now + 10);
    }
    EXPECT_GT(coming, 0.9F);
    EXPECT_LT(going, 0.1F);
    EXPECT_LE(returns.open(), 2u); // what was answered is not kept
}

} // namespace
} // namespace hbf::kv::prefetch
