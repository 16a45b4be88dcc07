// SPDX-License-Identifier: Apache-2.0
// What submit refuses, and that a refusal leaves nothing behind.
#include "queue_test.hpp"

namespace hbf::host::testing {
namespace {

class Commands : public QueueTest {
protected:
    void refused(const hbf_command &command, const std::string &why, hbf_status status = HBF_INVALID) {
        TestQueue &queue = queue_;
        const Outcome outcome = queue.submit({copy_command(a_, 0, b_, 0, 64), command});
        EXPECT_EQ(outcome.status, status) << outcome.message;
        EXPECT_THAT(outcome.message, HasSubstr(why));
        EXPECT_THAT(outcome.message, HasSubstr("command 1"));
        EXPECT_EQ(outcome.value, 0u);
        EXPECT_EQ(queue.poll().completed, 0u) << "a refused batch must spend no value";
        EXPECT_EQ(static_cast<int>(*at(a_)), 0) << "the good command of a refused batch must not run";
        EXPECT_TRUE(queue.idle());
    }
    void TearDown() override {
        QueueTest::TearDown();
        for (const hbf_region region : {a_, b_, f_, g_}) EXPECT_NO_THROW((void)regions_.take(region)) << "left pinned";
    }

    hbf_region a_ = memory(4096), b_ = memory(4096, 1), f_ = file(8192, 2), g_ = file(8192, 3);
    TestQueue &queue_ = queue();
};

TEST_F(Commands, StaleAndUnknownRegions) {
    const hbf_region gone = memory(64);
    (void)regions_.take(gone);
    refused(copy_command(gone, 0, b_, 0, 64), "destination region");
    refused(copy_command(a_, 0, gone, 0, 64), "source region");
    refused(copy_command(a_, 0, 0, 0, 64), "not a live region");
    refused(fill_command(gone, 0, 64, 0, 1), "destination region");
    refused(range_command(HBF_COMMAND_FLUSH, gone, 0, 64), "not a live region");
}

TEST_F(Commands, RangesOutsideTheRegionAlsoWhereTheSumOverflows) {
    refused(copy_command(a_, 0, b_, 0, 4097), "outside the region's 4096 bytes");
    refused(copy_command(a_, 4096, b_, 0, 1), "outside");
    refused(copy_command(a_, 0, b_, UINT64_MAX, 2), "outside");
    refused(copy_command(a_, 2, b_, 0, UINT64_MAX), "outside");
    refused(copy_command(f_, 8191, b_, 0, 2), "outside");
    refused(fill_command(a_, 1, UINT64_MAX, 0, 1), "outside");
    refused(range_command(HBF_COMMAND_INVALIDATE, a_, 4000, 97), "outside");
}

TEST_F(Commands, PlaceOfARefusalIsReported) {
    const Outcome outcome = queue_.submit({copy_command(a_, 4090, b_, 0, 64)});
    EXPECT_EQ(outcome.region, a_);
    EXPECT_EQ(outcome.offset, 4090u);
}

TEST_F(Commands, ZeroSizes) {
    refused(copy_command(a_, 0, b_, 0, 0), "size is 0");
    refused(fill_command(a_, 0, 0, 0, 1), "size is 0");
    refused(range_command(HBF_COMMAND_FLUSH, a_, 0, 0), "size is 0");
}

TEST_F(Commands, OverlapOfSourceAndDestination) {
    refused(copy_command(a_, 0, a_, 63, 64), "overlap");
    refused(copy_command(a_, 63, a_, 0, 64), "overlap");
    refused(copy_command(a_, 100, a_, 100, 1), "overlap");
    refused(copy_command(f_, 0, f_, 4095, 4096), "overlap");
    const hbf_region alias = register_memory(at(a_, 1024), 1024); // another region over the same bytes
    refused(copy_command(alias, 0, a_, 1000, 64), "overlap");
    (void)regions_.take(alias);
    queue_.run({copy_command(a_, 0, a_, 64, 64), copy_command(f_, 0, f_, 4096, 4096), copy_command(f_, 0, g_, 0, 4096)});
}

TEST_F(Commands, KindsFlagsAndPatternWidths) {
    refused(hbf_command{}, "unknown kind 0");
    hbf_command command = copy_command(a_, 0, b_, 0, 64);
    command.kind = 77;
    command.flags = 0;
    refused(command, "unknown kind 77");
    command = copy_command(a_, 0, b_, 0, 64);
    command.flags = 2;
    refused(command, "unknown copy flags 0x2");
    command.flags = HBF_COPY_CRC32C;
    refused(command, "crc is NULL");
    command = fill_command(a_, 0, 64, 0, 1);
    command.flags = 1;
    refused(command, "flags");
    for (const uint32_t width : {0u, 3u, 5u, 16u}) refused(fill_command(a_, 0, 64, 0, width), "pattern_size");
    command = {};
    command.kind = HBF_COMMAND_LAUNCH;
    refused(command, "no kernels", HBF_UNSUPPORTED);
}

TEST_F(Commands, WaitsForValuesNotYetReturned) {
    TestQueue &other = queue();
    refused(wait_command(other.handle(), 1), "has not returned value 1");
    refused(wait_command(other.handle(), 0), "has not returned value 0");
    refused(wait_command(queue_.handle(), 1), "has not returned value 1"); // its own, to come
    ASSERT_EQ(other.submit({}).value, 1u);
    queue_.run({wait_command(other.handle(), 1)});
}

TEST_F(Commands, TooManyInABatchAndOverLimits) {
    TestQueue &small = queue({2, 3});
    const hbf_command one = copy_command(a_, 0, b_, 0, 1);
    small.run({one, one, one});
    const Outcome outcome = small.submit({one, one, one, one});
    EXPECT_EQ(outcome.status, HBF_INVALID);
    EXPECT_THAT(outcome.message, HasSubstr("made for 3"));
    EXPECT_THROW((void)queue({1u << 20, 1}), sdk::Failure);
    EXPECT_THROW((void)queue({1, 1u << 20}), sdk::Failure);
}

TEST_F(Commands, AStrideLargerThanTheCommandIsWalked) {
    struct Wide {
        hbf_command command;
        uint64_t future[4];
    } wide[2] = {{copy_command(a_, 0, b_, 0, 64), {}}, {copy_command(a_, 64, b_, 64, 64), {}}};
    hbf_batch batch{sizeof(hbf_batch), sizeof(Wide), &wide[0].command, 2};
    uint64_t value = 0;
    ASSERT_EQ(sdk::shell::queue_submit(queue_.handle(), &batch, &value, nullptr), HBF_OK);
    ASSERT_EQ(queue_.wait(value).status, HBF_OK);
    EXPECT_EQ(memcmp(at(a_), at(b_), 128), 0);
}

} // namespace
} // namespace hbf::host::testing
