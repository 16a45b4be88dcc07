// SPDX-License-Identifier: Apache-2.0
// One writes, others read: threads beside it, and views as another process has them.
#include <atomic>
#include <thread>

#include "core/engine/cold/testing/cold.hpp"
#include "core/engine/cold/view.hpp"

namespace hbf::kv::cold {
namespace {

using namespace testing;

constexpr size_t small = 8192; // so that a sanitizer does not take minutes over the bytes

TEST(ColdSharing, ThreadsAppendCommitRemoveAndReadWhileSegmentsComeAndGo) {
    Scratch scratch;
    auto log = must(Log::open(options_for(scratch, 4)));
    std::atomic<bool> over{false};
    std::atomic<uint64_t> right{0}, wrong{0};
    const auto write = [&](uint32_t first) {
        std::mt19937 random(seed() + first);
        for (uint64_t generation = 1; generation <= 900; ++generation) {
            const uint32_t number = first + random() % 20;
            append(*log, number, generation, small);
            if (generation % 16 == 0) must(log->commit());
            if (generation % 50 == 0) must(log->remove(key(number)));
        }
        must(log->commit());
    };
    const auto read = [&](uint32_t which) {
        auto reader = must(log->make_reader(4));
        std::mt19937 random(seed() + which);
        while (!over.load()) {
            const auto got = read_generation(*reader, random() % 40);
            if (got)
                ++right;
            else if (got.error().code != Code::unavailable)
                ++wrong;
        }
    };
    std::thread readers[]{std::thread(read, 1), std::thread(read, 2)};
    std::thread writers[]{std::thread(write, 0), std::thread(write, 20)};
    for (auto &thread : writers) thread.join();
    over = true;
    for (auto &thread : readers) thread.join();
    EXPECT_EQ(wrong.load(), 0u);
    EXPECT_GT(right.load(), 0u);
    EXPECT_GT(log->stats().appended_bytes, 2 * (4u << 20));
    EXPECT_LE(log->stats().used_bytes, 4u << 20) << "segments are to be used anew, not added";
    EXPECT_EQ(log->stats().lost, 0u);
    EXPECT_LT(log->stats().commits, 2 * 900u / 16 + 40);
    auto reader = must(log->make_reader(1));
    append(*log, 5, 5000, small);
    must(log->commit());
    EXPECT_EQ(must(read_generation(*reader, 5)), 5000u);
}

TEST(ColdSharing, AViewSeesWhatIsCommittedAndNeverAWrongByte) {
    Scratch scratch;
    const LogOptions options = options_for(scratch, 4);
    auto log = must(Log::open(options));
    append(*log, 1, 1, small);
    must(log->commit());
    auto view = must(View::open(options.folder, options.owner));
    auto reader = must(view->make_reader(2));
    EXPECT_EQ(must(read_generation(*reader, 1)), 1u);
    append(*log, 2, 1, small);
    must(view->refresh());
    EXPECT_FALSE(view->find(key(2))) << "is not committed";
    must(log->commit());
    EXPECT_FALSE(view->find(key(2)));
    must(view->refresh());
    EXPECT_EQ(must(read_generation(*reader, 2)), 1u);
    must(log->remove(key(1)));
    must(log->commit());
    must(view->refresh());
    EXPECT_FALSE(view->find(key(1)));

    // Segments are used anew under the view's feet: a miss, and after refreshing what is there now.
    uint64_t generation = 1, hits = 0;
    for (int round = 0; round < 60; ++round) {
        for (int i = 0; i < 60; ++i) append(*log, 10 + i % 30, ++generation, small);
        must(log->commit());
        if (round % 4 == 0) must(view->refresh());
        for (uint32_t number = 0; number < 40; ++number) {
            const auto got = read_generation(*reader, number);
            if (got)
                ++hits;
            else
                ASSERT_EQ(got.error().code, Code::unavailable) << got.error().message;
        }
    }
    EXPECT_GT(hits, 0u);
    must(view->refresh());
    EXPECT_EQ(view->granules(), log->stats().granules);
    for (uint32_t number = 10; number < 40; ++number)
        EXPECT_EQ(view->find(key(number))->generation, log->find(key(number))->generation) << number;
    EXPECT_EQ(must(read_generation(*reader, 10 + 59 % 30)), generation);

    log.reset(); // no writer any more
    must(view->refresh());
    EXPECT_EQ(must(read_generation(*reader, 10 + 59 % 30)), generation);
    auto late = must(View::open(options.folder, options.owner, false));
    EXPECT_EQ(late->granules(), view->granules());
}

} // namespace
} // namespace hbf::kv::cold
