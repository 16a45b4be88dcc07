// SPDX-License-Identifier: Apache-2.0
// One queue over one stream: what is taken, what it costs the runtime, and what becomes of what fails.
#include <numeric>

#include "plugins/stream/tests/testing.hpp"

namespace hbf::stream {
namespace {

using StreamQueues = OnStreams;

TEST_F(StreamQueues, ABatchIsOneCallOfCopiesAndOneRecord) {
    std::vector<char> from(1 << 16), to(1 << 16);
    std::iota(from.begin(), from.end(), 1);
    const hbf_region a = host(from.data(), from.size()), b = allocate(1 << 16), c = host(to.data(), to.size());
    const auto one = queue();
    std::vector<hbf_command> there, back;
    for (uint64_t i = 0; i < 1024; ++i) {
        there.push_back(copy(b, i * 64, a, i * 64, 64));
        back.push_back(copy(c, i * 64, b, i * 64, 64));
    }
    EXPECT_EQ(submit(*one, there), 1u);
    EXPECT_EQ(runtime.calls["copy"], 1);
    EXPECT_EQ(runtime.calls["record"], 1);
    EXPECT_EQ(submit(*one, back), 2u);
    EXPECT_EQ(one->poll().completed, 0u) << "nothing has run";
    EXPECT_FALSE(one->wait(2, 0));
    EXPECT_EQ(refusal([&] { instance->free(b); }).status, HBF_BUSY);
    stream().step();
    EXPECT_EQ(one->poll().completed, 1u);
    EXPECT_NE(from, to);
    stream().step();
    EXPECT_TRUE(one->wait(2, UINT64_MAX));
    EXPECT_EQ(from, to);
    EXPECT_TRUE(one->idle());
    instance->free(b);
}

TEST_F(StreamQueues, CopiesDoNotCrossABarrier) {
    const hbf_region a = allocate(64);
    const auto one = queue();
    submit(*one, {copy(a, 0, a, 32, 8), copy(a, 8, a, 40, 8), barrier(), copy(a, 16, a, 0, 8)});
    EXPECT_EQ(runtime.calls["copy"], 2);
    run_all();
}

TEST_F(StreamQueues, AnEmptyBatchIsAValue) {
    const auto one = queue();
    EXPECT_EQ(submit(*one, {}), 1u);
    EXPECT_TRUE(one->wait(1, 0));
    EXPECT_EQ(one->poll().failed, 0u);
}

TEST_F(StreamQueues, BadCommandsAreRefusedBeforeTheRuntimeHearsOfAny) {
    std::vector<char> memory(64);
    const hbf_region a = allocate(64), whole = host(memory.data(), 64), half = host(memory.data() + 32, 32);
    const auto one = queue();
    hbf_command unknown{}, flagged = copy(a, 0, a, 32, 8), crc = flagged;
    unknown.kind = 77, flagged.flags = 8, crc.flags = HBF_COPY_CRC32C;
    struct {
        const char *what;
        hbf_command command;
        hbf_status status = HBF_INVALID;
    } bad[] = {{"past the end", copy(a, 60, a, 0, 8)},
               {"far past the end", copy(a, UINT64_MAX - 3, a, 0, 8)},
               {"empty", copy(a, 0, a, 32, 0)},
               {"overlap", copy(a, 0, a, 7, 8)},
               {"overlap of two registrations", copy(whole, 28, half, 0, 8)},
               {"stale", copy(a + (uint64_t{1} << 32), 0, a, 0, 8)},
               {"never made", copy(0, 0, a, 0, 8)},
               {"pattern", fill(a, 0, 8, 0, 3)},
               {"kind", unknown},
               {"flag", flagged},
               {"crc", crc, HBF_UNSUPPORTED}};
    for (const auto &[what, command, status] : bad) {
        const sdk::Failure failure = refusal([&] { submit(*one, {copy(a, 0, a, 32, 8), command}); });
        EXPECT_EQ(failure.status, status) << what;
        EXPECT_NE(failure.message.find("command 1"), std::string::npos) << what << ": " << failure.message;
    }
    EXPECT_EQ(runtime.calls["copy"], 0);
    EXPECT_EQ(submit(*one, {copy(whole, 0, half, 0, 8)}), 1u) << "beside each other they may stand";
    run_all();
    one->wait(1, UINT64_MAX);
    for (const hbf_region region : {a, whole, half}) instance->free(region); // in nobody's use
}

TEST_F(StreamQueues, AFullQueueTakesNothingAndGoesOnAfterwards) {
    const hbf_region a = allocate(64);
    const auto one = queue(2);
    submit(*one, {copy(a, 0, a, 32, 8)});
    submit(*one, {copy(a, 0, a, 32, 8)});
    EXPECT_EQ(refusal([&] { submit(*one, {copy(a, 0, a, 32, 8)}); }).status, HBF_EXHAUSTED);
    stream().step();
    EXPECT_EQ(submit(*one, {copy(a, 0, a, 32, 8)}), 3u);
    run_all();
    EXPECT_TRUE(one->wait(3, UINT64_MAX));
}

TEST_F(StreamQueues, ARefusalBeforeAnythingBeganIsTheSubmits) {
    const hbf_region a = allocate(64);
    const auto one = queue();
    runtime.refuse["copy"] = 5;
    const sdk::Failure failure = refusal([&] { submit(*one, {copy(a, 0, a, 32, 8)}); });
    EXPECT_EQ(failure.status, HBF_INTERNAL);
    EXPECT_NE(failure.message.find("FAKE_ERROR (5)"), std::string::npos) << failure.message;
    EXPECT_EQ(failure.region, a);
    EXPECT_EQ(submit(*one, {copy(a, 0, a, 32, 8)}), 1u) << "no value was spent";
    run_all();
    EXPECT_TRUE(one->wait(1, UINT64_MAX));
    EXPECT_EQ(one->poll().failed, 0u);
    instance->free(a);
}

TEST_F(StreamQueues, ARefusalInTheMiddleFailsTheValueOnceTheRestHasRun) {
    const hbf_region a = allocate(64);
    const auto one = queue();
    runtime.refuse["fill"] = 5;
    EXPECT_EQ(submit(*one, {copy(a, 0, a, 32, 8), fill(a, 8, 8, 1, 1)}), 1u);
    EXPECT_EQ(one->poll().completed, 0u);
    EXPECT_EQ(refusal([&] { instance->free(a); }).status, HBF_BUSY) << "the copy may still write";
    run_all();
    EXPECT_TRUE(one->wait(1, UINT64_MAX));
    EXPECT_EQ(one->poll().failed, 1u);
    EXPECT_NE(one->failure()->message.find("command 1"), std::string::npos) << one->failure()->message;
    instance->free(a);
}

TEST_F(StreamQueues, ARecordThatIsRefusedFailsTheValueOnceTheStreamIsEmpty) {
    const hbf_region a = allocate(64);
    const auto one = queue();
    runtime.refuse["record"] = 9;
    EXPECT_EQ(submit(*one, {copy(a, 0, a, 32, 8)}), 1u);
    EXPECT_EQ(one->poll().completed, 0u) << "it may still run";
    run_all();
    EXPECT_EQ(one->poll().failed, 1u);
    instance->free(a);
}

TEST_F(StreamQueues, ADeviceThatFailsPoisonsAndSaysWhere) {
    const hbf_region a = allocate(64);
    const auto one = queue();
    submit(*one, {copy(a, 16, a, 32, 8)});
    stream().break_down(13);
    EXPECT_TRUE(one->wait(1, UINT64_MAX));
    EXPECT_EQ(one->poll().failed, 1u);
    EXPECT_EQ(one->poll().status, HBF_DEVICE_LOST);
    const auto failure = one->failure();
    ASSERT_TRUE(failure);
    EXPECT_NE(failure->message.find("FAKE_ERROR (13)"), std::string::npos) << failure->message;
    EXPECT_EQ(failure->region, a);
    EXPECT_EQ(failure->offset, 16u);
    stream().break_down(0);
    EXPECT_EQ(submit(*one, {copy(a, 0, a, 32, 8)}), 2u);
    run_all();
    EXPECT_TRUE(one->wait(2, UINT64_MAX));
    EXPECT_EQ(one->poll().failed, 1u) << "the queue is poisoned";
    instance->free(a);
}

TEST_F(StreamQueues, AQueueThatEndsWithWorkInFlightFinishesIt) {
    const hbf_region a = allocate(64);
    auto one = queue();
    submit(*one, {copy(a, 16, a, 32, 8)});
    EXPECT_FALSE(one->idle());
    one.reset();
    instance->free(a);
}

TEST_F(StreamQueues, AQueueThatCannotBeMadeLeavesNothing) {
    runtime.refuse["make_event"] = 2;
    EXPECT_EQ(refusal([&] { (void)queue(); }).status, HBF_INTERNAL);
    EXPECT_TRUE(runtime.events.empty());
}

} // namespace
} // namespace hbf::stream
