// SPDX-License-Identifier: Apache-2.0
// A warmed submit allocates nothing; and wherever memory runs out, the call says so and nothing else has changed.
#include <condition_variable>
#include <future>

#include "core/fabric/testing/allocations.hpp"
#include "core/fabric/testing/fake_kernels.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class Allocation : public FabricTest {
protected:
    // Calls with the 1st, 2nd, ... allocation failing, until it comes through without.
    template <class Call>
    int until_it_succeeds(Call &&call) {
        for (uint64_t nth = 1; nth < 2000; ++nth) {
            fail_allocation(nth);
            const auto result = call();
            const bool failed = allocation_failed();
            fail_allocation(0);
            if (!failed) {
                EXPECT_TRUE(result) << (result ? "" : result.error().message);
                return static_cast<int>(nth - 1);
            }
            // A failure nobody needed to tell (a cache that could not be kept) is a success; else it is exhaustion.
            if (!result) {
                EXPECT_EQ(code_of(result), Code::exhausted) << nth << ": " << result.error().message;
            }
        }
        ADD_FAILURE() << "it never succeeded";
        return 0;
    }
};

TEST_F(Allocation, AWarmedSubmitPollAndWaitAllocateNothing) {
    Device device = open();
    const RegionInfo a = must(device.allocate(dram, granule)), b = must(device.allocate(dram, granule));
    Queue queue = must(device.create_queue()), other = must(device.create_queue());
    Batch batch;
    uint64_t value = 0;
    const auto round = [&] {
        for (const Integrity integrity : {Integrity::none, Integrity::next_read}) {
            batch.clear();
            batch.copy(b.region, 0, a.region, 0, granule, integrity).barrier().fill(a.region, 0, 64, 1);
            if (value != 0) batch.wait({other.id(), value});
            const auto point = queue.submit(batch);
            queue.completed();
            (void)queue.wait(point->value);
            (void)queue.status(point->value);
            batch.clear();
            batch.wait(*point);
            value = other.submit(batch)->value;
        }
    };
    for (int i = 0; i < 200; ++i) round(); // once around the ring and more
    const uint64_t before = allocations();
    for (int i = 0; i < 200; ++i) round();
    EXPECT_EQ(allocations() - before, 0u);
    EXPECT_EQ(must(queue.status(800)).code, Code::ok);
    ::operator delete(::operator new(1)); // the counter counts
    EXPECT_EQ(allocations() - before, 1u);
}

TEST_F(Allocation, HeldAndStagedBatchesAllocateNothingOnceWarmed) {
    Device device = open("a"), other = open("b");
    const RegionInfo a = must(device.allocate(vram, granule)), b = must(other.allocate(vram, granule));
    Queue queue = must(device.create_queue()), there = must(other.create_queue());
    Batch batch;
    const auto round = [&] {
        const Point point = *there.submit(Batch());
        batch.clear();
        batch.wait(point).copy(b.region, 0, a.region, 0, granule);
        (void)queue.wait(queue.submit(batch)->value);
    };
    for (int i = 0; i < 200; ++i) round();
    const uint64_t before = allocations();
    for (int i = 0; i < 200; ++i) round();
    EXPECT_EQ(allocations() - before, 0u);
}

TEST_F(Allocation, AWarmedLaunchAllocatesNothing) {
    Device device = open();
    const RegionInfo a = must(device.allocate(soft, granule)), b = must(device.allocate(vram, granule));
    const Kernel kernel = must(device.find_kernel("add/1")).kernel;
    Queue queue = must(device.create_queue());
    const AddArguments arguments{3};
    const KernelBuffer buffers[] = {{a.region, 0, granule, kernel_reads}, {b.region, 0, granule, kernel_writes}};
    Batch batch;
    const auto round = [&] {
        batch.clear();
        for (int i = 0; i < 4; ++i) batch.launch(kernel, buffers, std::as_bytes(std::span(&arguments, 1)), 1, 64).barrier();
        (void)queue.wait(queue.submit(batch)->value);
    };
    for (int i = 0; i < 200; ++i) round();
    const uint64_t before = allocations();
    for (int i = 0; i < 200; ++i) round();
    EXPECT_EQ(allocations() - before, 0u);
    EXPECT_EQ(script.launches, 1600u);
}

TEST_F(Allocation, ACopyVerifiedByTheDeviceAllocatesNothingOnceWarmed) {
    script.kernels = {"crc32c/1"};
    Device device = open();
    const RegionInfo a = must(device.allocate(vram, granule)), b = must(device.allocate(vram, granule));
    Queue queue = must(device.create_queue());
    const Batch batch = copy(b, a, granule, Integrity::kernel);
    const auto round = [&] { (void)queue.wait(queue.submit(batch)->value); };
    for (int i = 0; i < 200; ++i) round();
    const uint64_t before = allocations();
    for (int i = 0; i < 200; ++i) round();
    EXPECT_EQ(allocations() - before, 0u);
    EXPECT_EQ(script.finds, 1u);
    EXPECT_EQ(script.launches, 400u);
}

TEST_F(Allocation, ALaunchIsTakenWholeOrNotAtAll) {
    Device device = open();
    const RegionInfo a = must(device.allocate(soft, granule)), b = must(device.allocate(vram, granule));
    const Kernel kernel = must(device.find_kernel("add/1")).kernel;
    Queue queue = must(device.create_queue({1, 4}));
    const AddArguments arguments{3};
    const KernelBuffer buffers[] = {{a.region, 0, granule, kernel_reads}, {b.region, 0, granule, kernel_writes}};
    Batch batch;
    batch.launch(kernel, buffers, std::as_bytes(std::span(&arguments, 1)), 1, 64);
    EXPECT_GT(until_it_succeeds([&] { return queue.submit(batch); }), 1);
    must(queue.wait(1));
    must(device.free(a.region)); // no pin was left
    must(device.free(b.region));
}

TEST_F(Allocation, OpenAndCreateUndoThemselves) {
    const int failures = until_it_succeeds([&] {
        auto device = Device::open(fake_plugin(), fake_options("a", true));
        EXPECT_EQ(script.live_instances, device ? 1u : 0u);
        return device;
    });
    EXPECT_GT(failures, 10);
    EXPECT_EQ(script.live_instances, 0u);
    EXPECT_EQ(script.live_regions, 0u);

    Device device = open();
    EXPECT_GT(until_it_succeeds([&] {
                  auto queue = device.create_queue();
                  EXPECT_EQ(script.live_queues, queue ? 1u : 0u);
                  return queue;
              }),
              5);
    EXPECT_EQ(script.live_queues, 0u);
}

TEST_F(Allocation, AllocateAndRegisterLeaveNothingBehind) {
    Device device = open();
    std::vector<std::byte> memory(4096);
    std::vector<Region> made;
    made.reserve(8);
    EXPECT_GT(until_it_succeeds([&] {
                  auto region = device.allocate(dram, 4096);
                  if (region) made.push_back(region->region);
                  EXPECT_EQ(script.live_regions, made.size());
                  return region;
              }),
              2);
    until_it_succeeds([&] {
        auto region = device.register_host(memory);
        if (region) made.push_back(region->region);
        EXPECT_EQ(script.live_regions, made.size());
        return region;
    });
    for (const Region &region : made) must(device.free(region));
    EXPECT_EQ(script.live_regions, 0u);
}

TEST_F(Allocation, FailuresInTheFabricsOwnStepsArriveWithoutMemoryForTheirWords) {
    Device device = open();
    const RegionInfo a = must(device.allocate(vram, granule)), b = must(device.allocate(vram, granule));
    // With the progress thread busy elsewhere all steps are this thread's, and it is this one that runs out of memory.
    Queue elsewhere = must(device.create_queue());
    std::promise<void> busy, over;
    must(elsewhere.on_complete(must(elsewhere.submit(Batch())).value, [&](const auto &) {
        busy.set_value();
        over.get_future().wait();
    }));
    busy.get_future().wait();
    for (std::atomic<int> *fault : {&script.fail_copy, &script.short_read, &script.flip_bit}) {
        uint64_t nth = 1;
        for (bool struck = true; struck; ++nth) {
            Queue queue = must(device.create_queue({4, 4}));
            *fault = 1;
            const Point point = must(queue.submit(copy(b, a, granule, Integrity::readback)));
            fail_allocation(nth);
            const auto result = queue.wait(point.value);
            struck = allocation_failed();
            fail_allocation(0);
            *fault = 0;
            EXPECT_FALSE(result) << "allocation " << nth;
            EXPECT_NE(code_of(queue.poisoned()), Code::ok) << "allocation " << nth;
        }
        EXPECT_GT(nth, 3u);
    }
    over.set_value();
}

TEST_F(Allocation, SubmitTakesAllOrNothing) {
    script.capabilities = 0; // the checked copy needs the fabric's own steps too: the most there is to allocate
    Device device = open("a"), other = open("b");
    const RegionInfo a = must(device.allocate(vram, 200 * granule)), b = must(other.allocate(vram, 200 * granule)),
                     c = must(device.allocate(vram, 200 * granule));
    Queue queue = must(device.create_queue({4, 4})), there = must(other.create_queue());
    Batch batch;
    batch.wait(must(there.submit(Batch())));
    batch.copy(b.region, 0, a.region, 0, 200 * granule, Integrity::readback);
    batch.copy(c.region, 0, a.region, 0, 200 * granule, Integrity::readback);
    uint64_t values = 0;
    const int failures = until_it_succeeds([&] {
        auto point = queue.submit(batch);
        if (point) {
            EXPECT_EQ(point->value, ++values);
            fail_allocation(0);
            must(queue.wait(point->value));
        }
        return point;
    });
    EXPECT_GT(failures, 3);
    EXPECT_EQ(must(queue.submit(Batch())).value, values + 1) << "no value was spent by what failed";
    must(queue.wait(values + 1));
    must(device.free(a.region)); // no pin was left
    must(other.free(b.region));
}

TEST_F(Allocation, OnCompleteRegistersOrNot) {
    Device device = open();
    struct {
        std::mutex mutex;
        std::condition_variable changed;
        int calls = 0;
    } seen;
    int registered = 0;
    {
        Queue queue = must(device.create_queue());
        must(queue.submit(Batch()));
        until_it_succeeds([&] {
            auto done = queue.on_complete(1, [&seen](const auto &) {
                std::lock_guard lock(seen.mutex);
                ++seen.calls;
                seen.changed.notify_all();
            });
            if (done) ++registered;
            return done;
        });
    }
    std::unique_lock lock(seen.mutex);
    EXPECT_TRUE(seen.changed.wait_for(lock, 30s, [&] { return seen.calls == registered; }))
        << seen.calls << " of " << registered;
}

TEST_F(Allocation, AFailureWithoutMemoryForItsMessageKeepsItsCode) {
    Device device = open();
    const RegionInfo a = must(device.allocate(dram, granule)), b = must(device.allocate(dram, granule));
    for (uint64_t nth = 1; nth < 8; ++nth) {
        Queue queue = must(device.create_queue());
        const Batch batch = copy(b, a, granule, Integrity::readback);
        must(queue.wait(must(queue.submit(batch)).value));
        script.manual = true;
        must(queue.submit(batch));
        script.flip_bit = 1;
        fail_allocation(nth);
        script.manual = false;
        queue.completed();
        queue.completed();
        fail_allocation(0);
        EXPECT_EQ(code_of(queue.wait(2)), Code::data_loss) << nth;
    }
}

} // namespace
} // namespace hbf::testing
