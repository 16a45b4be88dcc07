// SPDX-License-Identifier: Apache-2.0
// Where threads meet; under the thread sanitizer too.
#include <thread>

#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class Threads : public FabricTest {
protected:
    void TearDown() override { script.manual = other_script.manual = false; }
};

constexpr int rounds = 150;

TEST_F(Threads, EightWithAQueueEach) {
    Device device = open();
    const auto work = [&](int seed) {
        Device mine = device; // a copy of the handle
        Queue queue = must(mine.create_queue());
        const RegionInfo a = must(mine.allocate(dram, granule)), b = must(mine.allocate(vram, granule)),
                         c = must(mine.allocate(dram, granule));
        for (int i = 0; i < rounds; ++i) {
            write(a, 0, 256, static_cast<uint8_t>(seed * 31 + i));
            Batch batch;
            batch.copy(b.region, 0, a.region, 0, granule, i % 3 == 0 ? Integrity::next_read : Integrity::none);
            must(queue.submit(batch));
            batch.clear();
            batch.copy(c.region, 0, b.region, 0, granule, i % 3 == 0 ? Integrity::readback : Integrity::none);
            must(queue.wait(must(queue.submit(batch)).value));
            ASSERT_TRUE(same(a, c, granule));
            must(mine.written_by_cpu(a.region, 0, granule));
        }
        must(mine.free(a.region));
        must(mine.free(b.region));
        must(mine.free(c.region));
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back(work, i);
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(script.live_regions, 0u);
}

TEST_F(Threads, ManyPollAndWaitOnOneQueue) {
    Device device = open();
    const RegionInfo a = must(device.allocate(dram, granule)), b = must(device.allocate(dram, granule));
    Queue queue = must(device.create_queue({8, 4}));
    std::atomic<uint64_t> last{0};
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            uint64_t before = 0;
            while (!done) {
                const uint64_t now = queue.completed();
                ASSERT_GE(now, before) << "completed never goes back";
                before = now;
                if (const uint64_t value = last; value != 0) {
                    ASSERT_EQ(must(queue.wait(value)).code, Code::ok);
                    ASSERT_EQ(must(queue.status(value)).value, value);
                }
            }
        });
    std::thread runner([&] {
        while (!done) script.run(1);
    });
    script.manual = true;
    for (int i = 0; i < rounds * 4;) {
        const auto point = queue.submit(copy(b, a, 64));
        if (point) {
            last = point->value;
            ++i;
        } else {
            EXPECT_EQ(code_of(point), Code::exhausted);
            if (code_of(point) != Code::exhausted) break;
            queue.completed();
        }
    }
    must(queue.wait(last));
    done = true;
    runner.join();
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(script.copies, static_cast<uint64_t>(rounds * 4));
}

TEST_F(Threads, DevicesThatWaitForEachOther) {
    Device here = open("a"), there = open("b");
    const RegionInfo a = must(here.allocate(vram, granule)), b = must(there.allocate(vram, granule));
    Queue first = must(here.create_queue()), second = must(there.create_queue());
    for (int i = 0; i < rounds; ++i) { // staged there, waited for here, by callback and by poll
        Batch batch;
        batch.copy(b.region, 0, a.region, 0, granule, Integrity::next_read);
        const Point moved = must(first.submit(batch));
        batch.clear();
        batch.wait(moved).copy(a.region, 0, b.region, 0, granule, Integrity::next_read);
        const Point back = must(second.submit(batch));
        must(second.on_complete(back.value, [&](const auto &result) { EXPECT_TRUE(result); }));
        if (i % 2 == 0) {
            must(second.wait(back.value));
        } else {
            while (second.completed() < back.value) std::this_thread::yield();
        }
    }
}

TEST_F(Threads, CancelRacesWithCompletion) {
    Device device = open();
    const RegionInfo a = must(device.allocate(dram, granule)), b = must(device.allocate(dram, granule));
    Queue queue = must(device.create_queue());
    for (int i = 0; i < rounds; ++i) {
        script.manual = true;
        const Point point = must(queue.submit(copy(b, a, 64)));
        std::thread runner([&] { script.run(); });
        const auto cancelled = queue.cancel(point.value);
        runner.join();
        script.manual = false;
        const Code code = code_of(queue.wait(point.value));
        EXPECT_EQ(code, cancelled ? Code::cancelled : Code::ok) << "what cancel said is what came";
    }
    must(queue.poisoned());
}

TEST_F(Threads, FreeRacesWithSubmit) {
    Device device = open();
    Queue queue = must(device.create_queue());
    const RegionInfo a = must(device.allocate(dram, granule));
    for (int i = 0; i < rounds; ++i) {
        const RegionInfo b = must(device.allocate(dram, 4096));
        std::thread freer([&] {
            while (code_of(device.free(b.region)) == Code::busy) std::this_thread::yield();
        });
        for (int k = 0; k < 3; ++k) {
            Batch batch;
            batch.copy(b.region, 0, a.region, 0, 64);
            const auto point = queue.submit(batch);
            if (point)
                must(queue.wait(point->value));
            else
                ASSERT_EQ(code_of(point), Code::invalid) << point.error().message;
        }
        freer.join();
    }
    EXPECT_EQ(script.live_regions, 1u);
}

TEST_F(Threads, OpenAndCloseWhileOthersCopyThere) {
    Device here = open("a");
    const RegionInfo a = must(here.allocate(dram, granule));
    Queue queue = must(here.create_queue());
    for (int i = 0; i < rounds; ++i) {
        std::optional<Device> there(open("b"));
        const RegionInfo b = must(there->allocate(i % 2 == 0 ? dram : vram, granule));
        std::thread closer([&] { there.reset(); });
        const auto point = queue.submit(copy(b, a, granule));
        if (point)
            must(queue.wait(point->value));
        else
            ASSERT_EQ(code_of(point), Code::invalid) << point.error().message;
        closer.join();
    }
    EXPECT_EQ(other_script.live_instances, 0u);
}

} // namespace
} // namespace hbf::testing
