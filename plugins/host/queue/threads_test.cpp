// SPDX-License-Identifier: Apache-2.0
// Many threads on one queue, and many queues beside each other.
#include <atomic>
#include <thread>

#include "queue_test.hpp"

namespace hbf::host::testing {
namespace {

using Threads = QueueTest;

TEST_F(Threads, EightThreadsWithTheirOwnQueues) {
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    struct Own {
        TestQueue *queue;
        hbf_region a, b, f;
    };
    std::vector<Own> owns;
    for (uint32_t i = 0; i < 8; ++i) owns.push_back({&queue(), memory(3 << 20), memory(3 << 20, i + 1), file(3 << 20)});
    for (uint32_t i = 0; i < 8; ++i)
        threads.emplace_back([&, own = owns[i], i] {
            std::mt19937 random(i);
            for (int round = 0; round < 12; ++round) {
                const uint64_t length = random() % ((3u << 20) - 1) + 1;
                (void)own.queue->submit({copy_command(own.f, 0, own.b, 0, length)});
                const uint64_t value = own.queue
                                           ->submit({fill_command(own.a, 0, length, 0, 1), wait_command(),
                                                     copy_command(own.a, 0, own.f, 0, length)})
                                           .value;
                if (round % 3 == 0)
                    while (own.queue->poll().completed < value) std::this_thread::yield();
                else if (own.queue->wait(value).status != HBF_OK)
                    ++wrong;
                if (own.queue->poll().status != HBF_OK || memcmp(at(own.a), at(own.b), length) != 0) ++wrong;
            }
        });
    for (auto &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// One thread submits; others wait for, poll and cancel its values at the same time.
TEST_F(Threads, SubmitPollWaitAndCancelTogether) {
    const hbf_region a = memory(4 << 20), b = memory(4 << 20, 1);
    TestQueue &queue = this->queue({32, 16});
    constexpr uint64_t values = 400;
    std::atomic<uint64_t> submitted{0};
    std::atomic<uint64_t> wrong{0}, cancelled{0};
    std::vector<std::thread> threads;
    for (int waiter = 0; waiter < 3; ++waiter)
        threads.emplace_back([&] {
            for (uint64_t value = 1; value <= values; ++value) {
                while (submitted.load(std::memory_order_acquire) < value) std::this_thread::yield();
                if (queue.wait(value).status != HBF_OK || queue.poll().completed < value) ++wrong;
            }
        });
    threads.emplace_back([&] {
        uint64_t seen = 0;
        while (seen < values) {
            const hbf_progress progress = queue.poll();
            if (progress.completed < seen || progress.failed != 0) ++wrong;
            seen = progress.completed;
            if (!queue.idle() && seen == values) ++wrong;
        }
    });
    threads.emplace_back([&] {
        for (uint64_t value = 7; value <= values; value += 7) {
            while (submitted.load(std::memory_order_acquire) < value) std::this_thread::yield();
            const hbf_status status = queue.cancel(value).status;
            if (status == HBF_OK)
                ++cancelled;
            else if (status != HBF_BUSY)
                ++wrong;
        }
    });
    for (uint64_t value = 1; value <= values; ++value) {
        Outcome outcome;
        do {
            outcome = queue.submit({copy_command(a, 0, b, 0, value % 5 == 0 ? 4 << 20 : 4096 * (value % 17 + 1))});
            if (outcome.status == HBF_EXHAUSTED) std::this_thread::yield();
        } while (outcome.status == HBF_EXHAUSTED);
        ASSERT_EQ(outcome.value, value) << outcome.message;
        submitted.store(value, std::memory_order_release);
    }
    for (auto &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_TRUE(queue.idle());
    EXPECT_NO_THROW((void)regions_.take(a));
    EXPECT_NO_THROW((void)regions_.take(b));
}

// Values of one queue that others wait for, while all run.
TEST_F(Threads, QueuesThatWaitForEachOther) {
    const hbf_region ball = memory(1 << 20), other = memory(1 << 20), stored_ball = file(1 << 20);
    TestQueue &left = queue(), &right = queue();
    uint64_t left_value = 0, right_value = left.submit({}).value;
    for (uint32_t round = 1; round <= 1000; ++round) {
        left_value = left.submit({wait_command((round == 1 ? left : right).handle(), right_value),
                                  fill_command(ball, 0, 1 << 20, round, 4), wait_command(),
                                  copy_command(stored_ball, 0, ball, 0, 1 << 20)})
                         .value;
        right_value =
            right.submit({wait_command(left.handle(), left_value), copy_command(other, 0, stored_ball, 0, 1 << 20)}).value;
        if (round % 20 != 0) continue;
        ASSERT_EQ(right.wait(right_value).status, HBF_OK);
        uint32_t word;
        memcpy(&word, at(other, (1 << 20) - 4), 4);
        ASSERT_EQ(word, round);
    }
}

// A failure while others wait and submit: everyone gets to know, nobody hangs.
TEST_F(Threads, AFailureReachesEveryWaiter) {
    const hbf_region a = memory(1 << 16), f = file(1 << 16);
    for (int round = 0; round < 30; ++round) {
        {
            std::lock_guard lock(storage_.control.mutex);
            storage_.control.fault = [begun = storage_.control.begun](const FakeIo &io) {
                IoResult result;
                if (io.number == begun + 5) result.status = HBF_DATA_LOSS, result.message = "lost";
                return result;
            };
        }
        TestQueue &queue = this->queue();
        std::vector<std::thread> threads;
        std::atomic<uint64_t> submitted{0}, wrong{0};
        for (int waiter = 0; waiter < 3; ++waiter)
            threads.emplace_back([&] {
                while (submitted.load(std::memory_order_acquire) < 12) std::this_thread::yield();
                if (queue.wait(12).status != HBF_OK || queue.poll().failed != 6 || queue.failure().message != "lost")
                    ++wrong;
            });
        for (uint64_t value = 1; value <= 12; ++value) {
            ASSERT_EQ(queue.submit({copy_command(a, value * 512, f, value * 512, 512)}).value, value);
            submitted.store(value, std::memory_order_release);
        }
        for (auto &thread : threads) thread.join();
        ASSERT_EQ(wrong, 0u);
    }
}

} // namespace
} // namespace hbf::host::testing
