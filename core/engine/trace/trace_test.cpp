// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "core/engine/trace/trace.hpp"
#include "core/output/json.hpp"

namespace hbf::kv::trace {
namespace {

const ByName *find(const std::vector<ByName> &all, const std::string &name) {
    for (const ByName &one : all) {
        if (one.name == name) return &one;
    }
    return nullptr;
}

void spin(int microseconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
    while (std::chrono::steady_clock::now() < end) continue;
}

TEST(Trace, NothingIsKeptWhileNothingRecords) {
    {
        Span span("before", 10);
    }
    Recording recording;
    recording.stop();
    {
        Span span("after", 10);
    }
    EXPECT_TRUE(recording.summary().empty());
}

TEST(Trace, TimeAndBytesAreSummedUpAndOwnTimeIsToldFromThatOfWhatIsInside) {
    Recording recording;
    for (int i = 0; i < 3; ++i) {
        Span step("step");
        {
            Span load("load", 100);
            load.add(20);
            spin(2000);
        }
        Span attend("attend");
        spin(500);
        attend.end();
        attend.end(); // once is enough
    }
    recording.stop();
    const auto all = recording.summary();
    ASSERT_EQ(all.size(), 3u);
    const auto *step = find(all, "step"), *load = find(all, "load"), *attend = find(all, "attend");
    ASSERT_TRUE(step && load && attend);
    EXPECT_EQ(load->count, 3u);
    EXPECT_EQ(load->bytes, 360u);
    EXPECT_NEAR(step->self_seconds, step->seconds - load->seconds - attend->seconds, 1e-9);
    EXPECT_DOUBLE_EQ(load->self_seconds, load->seconds);
    EXPECT_GE(load->seconds, 0.006);
}

TEST(Trace, ItsJsonIsOfTraceEvents) {
    Recording recording;
    {
        Span span("load", 64);
    }
    recording.stop();
    const auto parsed = Json::parse(recording.json());
    ASSERT_TRUE(parsed) << parsed.error();
    const auto events = parsed->get("traceEvents");
    ASSERT_TRUE(events && events->size() == 1);
    const auto event = *events->at(0);
    EXPECT_EQ(event.get("ph")->text(), "X");
    EXPECT_EQ(event.get("name")->text(), "load");
    EXPECT_EQ(event.get("args")->get("bytes")->whole(), 64u);
    EXPECT_TRUE(event.get("dur")->number());
}

TEST(Trace, WhatHasNoRoomIsCounted) {
    Recording recording(2);
    for (int i = 0; i < 5; ++i) Span span("one");
    recording.stop();
    EXPECT_EQ(recording.summary().front().count, 2u);
    EXPECT_EQ(recording.left_out(), 3u);
}

TEST(Trace, ManyThreadsAndRecordingsThatComeAndGo) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            while (!stop) {
                Span outer("outer");
                Span inner("inner", 1);
            }
        });
    }
    for (int i = 0; i < 50; ++i) {
        Recording recording(64);
        while (recording.left_out() == 0) std::this_thread::yield();
        recording.stop();
        const auto all = recording.summary();
        ASSERT_FALSE(all.empty());
        for (const ByName &one : all) EXPECT_GE(one.seconds, one.self_seconds);
    }
    stop = true;
    for (auto &thread : threads) thread.join();
}

} // namespace
} // namespace hbf::kv::trace
