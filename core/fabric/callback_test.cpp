// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

// What callbacks leave behind, and a way to wait for it without guessing times.
struct Log {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::pair<uint64_t, Code>> entries;
    std::thread::id thread;

    auto note(uint64_t tag) {
        return [this, tag](const Result<Completion> &result) {
            std::lock_guard lock(mutex);
            entries.emplace_back(tag, code_of(result));
            thread = std::this_thread::get_id();
            changed.notify_all();
        };
    }
    bool reach(size_t count) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, 30s, [&] { return entries.size() >= count; });
    }
};

class Callbacks : public FabricTest {
protected:
    Log log; // outlives the queue, whose callbacks write here
    Device device = open();
    RegionInfo a = must(device.allocate(dram, granule)), b = must(device.allocate(dram, granule));
    Queue queue = must(device.create_queue());
    void TearDown() override { script.manual = false; }
};

TEST_F(Callbacks, OnceEachInOrderFromOneThreadOfTheCore) {
    script.manual = true;
    for (int i = 0; i < 3; ++i) must(queue.submit(copy(b, a, 64)));
    must(queue.on_complete(3, log.note(3)));
    must(queue.on_complete(1, log.note(1)));
    must(queue.on_complete(1, log.note(10)));
    must(queue.on_complete(2, log.note(2)));
    EXPECT_TRUE(log.entries.empty());
    script.run();
    ASSERT_TRUE(log.reach(4));
    must(queue.wait(3));
    std::lock_guard lock(log.mutex);
    const std::vector<std::pair<uint64_t, Code>> expected{{1, Code::ok}, {10, Code::ok}, {2, Code::ok}, {3, Code::ok}};
    EXPECT_EQ(log.entries, expected);
    EXPECT_NE(log.thread, std::this_thread::get_id());
}

TEST_F(Callbacks, ForAValueThatCompletedAlready) {
    must(queue.wait(must(queue.submit(copy(b, a, 64))).value));
    must(queue.on_complete(1, log.note(1)));
    ASSERT_TRUE(log.reach(1));
    std::lock_guard lock(log.mutex);
    EXPECT_NE(log.thread, std::this_thread::get_id()) << "never from inside on_complete";
}

TEST_F(Callbacks, GetTheFailure) {
    script.manual = true;
    must(queue.submit(copy(b, a, 64)));
    script.fail_copy = 1;
    Result<Completion> seen = fail(Code::busy, "");
    must(queue.on_complete(1, [&](const Result<Completion> &result) {
        seen = result;
        log.note(1)(result);
    }));
    script.run();
    ASSERT_TRUE(log.reach(1));
    EXPECT_EQ(code_of(seen), Code::internal);
    EXPECT_TRUE(contains(seen.error().message, "told to fail"));
}

TEST_F(Callbacks, MaySubmitPollAndRegisterButNotWait) {
    std::atomic<int> left{20};
    Code waited = Code::ok;
    std::function<void(const Result<Completion> &)> again = [&](const Result<Completion> &result) {
        if (--left > 0) {
            const Point next = must(queue.submit(copy(b, a, 64)));
            queue.completed();
            must(queue.on_complete(next.value, again));
            return;
        }
        waited = code_of(queue.wait(1));
        log.note(1)(result);
    };
    must(queue.on_complete(must(queue.submit(copy(b, a, 64))).value, again));
    ASSERT_TRUE(log.reach(1));
    EXPECT_EQ(waited, Code::invalid);
    EXPECT_EQ(script.copies, 20u);
}

TEST_F(Callbacks, AThrowingOneTakesNothingDown) {
    must(queue.submit(Batch()));
    must(queue.on_complete(1, [](const auto &) { throw 1; }));
    must(queue.on_complete(1, log.note(1)));
    ASSERT_TRUE(log.reach(1));
    EXPECT_EQ(code_of(queue.on_complete(1, {})), Code::invalid);
}

TEST_F(Callbacks, HaveRunWhenTheQueueIsGone) {
    for (size_t i = 0; i < 200; ++i) {
        {
            Queue gone = must(device.create_queue({2, 4}));
            must(gone.on_complete(must(gone.submit(copy(b, a, 64))).value, log.note(i)));
        }
        std::lock_guard lock(log.mutex);
        ASSERT_EQ(log.entries.size(), i + 1);
    }
    EXPECT_EQ(script.live_queues, 1u) << "nothing keeps them";
}

TEST_F(Callbacks, MayEndTheQueue) {
    auto last = std::make_unique<Queue>(must(device.create_queue()));
    must(last->submit(copy(b, a, 64)));
    must(last->on_complete(1, [&](const Result<Completion> &result) {
        last.reset();
        log.note(1)(result);
    }));
    ASSERT_TRUE(log.reach(1));
    EXPECT_EQ(last, nullptr);
    must(queue.submit(Batch()));
    must(queue.on_complete(1, log.note(2))); // the thread is past the first one then
    ASSERT_TRUE(log.reach(2));
}

} // namespace
} // namespace hbf::testing
