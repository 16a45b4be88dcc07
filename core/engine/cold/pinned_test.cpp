// SPDX-License-Identifier: Apache-2.0
// What somebody counts on stays, whatever is appended; and what is appended is what its checksum says.
#include <set>

#include "core/engine/cold/testing/cold.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::kv::cold {
namespace {

using namespace testing;

class ColdPinned : public ::testing::TestWithParam<bool> {};

TEST_P(ColdPinned, PinnedGranulesOutliveTheCapacityManyTimes) {
    Scratch scratch;
    LogOptions options = options_for(scratch, 6);
    options.uring = GetParam();
    std::set<Key> pinned;
    options.pinned = [&](const Key &which) { return pinned.contains(which); };
    auto log = must(Log::open(options));
    std::mt19937 random(seed());
    for (uint32_t number = 0; number < 40; ++number) { // of the 90 that there is room for
        append(*log, number, 1);
        pinned.insert(key(number));
    }
    must(log->commit());
    auto reader = must(log->make_reader(4));
    for (uint32_t number = 100; number < 700; ++number) {
        append(*log, number, 1, random() % 4 == 0 ? 1 + random() % granule_size : granule_size);
        if (random() % 5 == 0) must(log->remove(key(100 + random() % (number - 99))));
        if (random() % 7 == 0) must(log->commit());
        if (number % 100 != 0) continue;
        for (uint32_t mine = 0; mine < 40; ++mine) ASSERT_EQ(must(read_generation(*reader, mine)), 1u) << number;
    }
    EXPECT_GT(log->stats().evicted, 400u);
    EXPECT_EQ(log->stats().lost, 0u);
    must(log->close());
    options.pinned = {};
    log = must(Log::open(options));
    reader = must(log->make_reader(4));
    for (uint32_t mine = 0; mine < 40; ++mine) EXPECT_EQ(must(read_generation(*reader, mine)), 1u);
}

TEST_P(ColdPinned, WhereAllIsPinnedNothingGoesAndItIsSaid) {
    Scratch scratch;
    LogOptions options = options_for(scratch, 4);
    options.uring = GetParam();
    bool all = true;
    options.pinned = [&](const Key &) { return all; };
    auto log = must(Log::open(options));
    std::vector<uint32_t> there;
    Code code = Code::ok;
    for (uint32_t number = 0; code == Code::ok; ++number) {
        ASSERT_LT(number, 1000u) << "something pinned was evicted";
        const auto ticket = log->append(key(number), 1, bytes_of(number, 1, granule_size));
        code = ticket ? Code::ok : ticket.error().code;
        if (!ticket) {
            EXPECT_NE(ticket.error().message.find("give a larger capacity"), std::string::npos) << ticket.error().message;
            break;
        }
        there.push_back(number);
        must(log->commit());
    }
    EXPECT_EQ(code, Code::exhausted);
    EXPECT_GE(there.size(), 30u);
    EXPECT_EQ(log->stats().evicted, 0u);
    auto reader = must(log->make_reader(4));
    for (const uint32_t number : there) EXPECT_EQ(must(read_generation(*reader, number)), 1u);
    EXPECT_FALSE(log->append(key(5000), 1, bytes_of(5000, 1, granule_size))) << "and stays so";
    all = false;
    for (uint32_t number = 6000; number < 6100; ++number) append(*log, number, 2);
    must(log->commit());
    EXPECT_EQ(must(read_generation(*reader, 6099)), 2u);
}

INSTANTIATE_TEST_SUITE_P(Room, ColdPinned, ::testing::Bool(), [](const auto &io) { return io.param ? "uring" : "plain"; });

TEST(ColdAppend, OtherBytesThanTheirChecksumSaysAreRefused) {
    Scratch scratch;
    auto log = must(Log::open(options_for(scratch)));
    const auto bytes = bytes_of(1, 1, granule_size);
    const uint32_t crc = kernels::crc32c(bytes.data(), bytes.size());
    const auto refused = log->append(key(1), 1, bytes, crc ^ 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::data_loss);
    must(log->append(key(2), 1, bytes_of(2, 1, 1000)));
    must(log->append(key(1), 2, bytes_of(1, 2, granule_size)));
    must(log->commit());
    auto reader = must(log->make_reader(4));
    EXPECT_EQ(must(read_generation(*reader, 1)), 2u);
    EXPECT_EQ(must(read_generation(*reader, 2)), 1u);
    EXPECT_EQ(log->find(key(1))->crc, kernels::crc32c(bytes_of(1, 2, granule_size).data(), granule_size));
}

TEST(ColdSegments, TheirSizeFollowsTheCapacityAndThenStays) {
    Scratch scratch;
    LogOptions options = options_for(scratch);
    options.segment_bytes = 0;
    options.capacity = 64 << 20;
    {
        auto log = must(Log::open(options));
        EXPECT_EQ(log->segment_bytes(), 4u << 20);
        append(*log, 1, 1);
    }
    options.capacity = 256 << 20;
    {
        auto log = must(Log::open(options));
        EXPECT_EQ(log->segment_bytes(), 4u << 20) << "as it was made";
        auto reader = must(log->make_reader(4));
        EXPECT_EQ(must(read_generation(*reader, 1)), 1u);
    }
    options.capacity = 8 << 20;
    const auto refused = Log::open(options);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("segments of 4194304 are possible"), std::string::npos)
        << refused.error().message;
}

} // namespace
} // namespace hbf::kv::cold
