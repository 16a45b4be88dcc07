// SPDX-License-Identifier: Apache-2.0
// A question asked in a forked process: the answer, a refusal, and every way a driver may end instead.
#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>
#include <unistd.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/stream/child.hpp"

namespace hbf::stream {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds plenty{20'000};

TEST(AskInChild, TellsWhatWasAnswered) {
    const ChildAnswer long_one = ask_in_child([] { return std::string(300'000, 'x'); }, plenty);
    EXPECT_TRUE(long_one.whole);
    EXPECT_EQ(long_one.told, std::string(300'000, 'x'));
    EXPECT_TRUE(ask_in_child([] { return std::string(); }, plenty).whole);
}

TEST(AskInChild, HandsOnARefusal) {
    try {
        (void)ask_in_child([]() -> std::string { sdk::fail(HBF_PERMISSION, "no: not for you"); }, plenty);
        FAIL() << "it was not refused";
    } catch (const sdk::Failure &failure) {
        EXPECT_EQ(failure.status, HBF_PERMISSION);
        EXPECT_EQ(failure.message, "no: not for you");
    }
}

TEST(AskInChild, SurvivesACrashAnExitAndAHang) {
    const ChildAnswer crash = ask_in_child(
        []() -> std::string {
            (void)::raise(SIGKILL);
            return "?";
        },
        plenty);
    EXPECT_FALSE(crash.whole);
    EXPECT_EQ(crash.end, "ended by SIGKILL");
    const ChildAnswer left = ask_in_child([]() -> std::string { ::_exit(3); }, plenty);
    EXPECT_FALSE(left.whole);
    EXPECT_EQ(left.end, "exited with status 3");
    const ChildAnswer hang = ask_in_child(
        []() -> std::string {
            for (;;) ::pause();
        },
        milliseconds(50));
    EXPECT_FALSE(hang.whole);
    EXPECT_TRUE(hang.late);
    EXPECT_EQ(hang.end, "did not answer in time");
}

TEST(AskInChild, LeavesTheProcessAsItWas) {
    ASSERT_EQ(::setenv("HBF_CHILD_TEST", "before", 1), 0);
    (void)ask_in_child([] { return ::setenv("HBF_CHILD_TEST", "after", 1), std::string(); }, plenty);
    EXPECT_STREQ(::getenv("HBF_CHILD_TEST"), "before");
}

} // namespace
} // namespace hbf::stream
