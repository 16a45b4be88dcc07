// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "worker_pool.hpp"

namespace hbf::host {
namespace {

struct Counter : Task {
    void run() noexcept override {
        runs.fetch_add(1);
        runs.notify_all();
        while (block.load()) block.wait(true);
    }
    void wait_for(int count) {
        for (int now = runs.load(); now < count; now = runs.load()) runs.wait(now);
    }
    std::atomic<int> runs{0};
    std::atomic<bool> block{false};
    void unblock() {
        block = false;
        block.notify_all();
    }
};

TEST(WorkerPool, ChoosesAtLeastOneAndAtMostFour) {
    const WorkerPool chosen(0), seven(7);
    EXPECT_GE(chosen.workers(), 1u);
    EXPECT_LE(chosen.workers(), 4u);
    EXPECT_EQ(seven.workers(), 7u);
    EXPECT_GE(chosen.cpus(), 1u);
}

TEST(WorkerPool, RunsWhatIsScheduledAndEachTaskOnceWhileItWaits) {
    WorkerPool pool(1);
    pool.start();
    pool.start(); // again changes nothing
    Counter first, second;
    first.block = true;
    pool.schedule(first);
    first.wait_for(1); // the only worker is in it
    EXPECT_FALSE(pool.others_waiting());
    for (int i = 0; i < 10; ++i) pool.schedule(second);
    EXPECT_TRUE(pool.others_waiting());
    pool.schedule(first); // while it runs: once more
    first.unblock();
    first.wait_for(2);
    second.wait_for(1);
    pool.remove(first);
    pool.remove(second);
    EXPECT_EQ(first.runs, 2);
    EXPECT_EQ(second.runs, 1);
}

TEST(WorkerPool, RemoveTakesOutOfTheListAndWaitsForWhatRuns) {
    WorkerPool pool(1);
    pool.start();
    Counter running, a, b, c;
    running.block = true;
    pool.schedule(running);
    running.wait_for(1);
    pool.schedule(a), pool.schedule(b), pool.schedule(c);
    pool.remove(b);
    pool.remove(c);
    std::atomic<bool> removed{false};
    std::thread remover([&] {
        pool.remove(running);
        removed = true;
    });
    EXPECT_FALSE(removed);
    running.unblock();
    remover.join();
    a.wait_for(1);
    pool.remove(a);
    EXPECT_EQ(b.runs, 0);
    EXPECT_EQ(c.runs, 0);
}

TEST(WorkerPool, EndsWithTasksStillInTheList) {
    Counter running, left;
    {
        WorkerPool pool(1);
        pool.start();
        running.block = true;
        pool.schedule(running);
        running.wait_for(1);
        pool.schedule(left);
        running.unblock();
    }
    EXPECT_EQ(running.runs, 1);
    EXPECT_LE(left.runs, 1);
}

TEST(WorkerPool, ManyThreadsScheduleManyTasks) {
    WorkerPool pool(3);
    pool.start();
    std::vector<Counter> tasks(16);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
            for (int round = 0; round < 2000; ++round) pool.schedule(tasks[static_cast<size_t>(round % 16)]);
        });
    for (auto &thread : threads) thread.join();
    for (auto &task : tasks) {
        task.wait_for(1);
        pool.remove(task);
    }
    EXPECT_FALSE(pool.others_waiting());
}

} // namespace
} // namespace hbf::host
