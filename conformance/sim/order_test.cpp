// SPDX-License-Identifier: Apache-2.0
// When and in which order the copy engines run what they are given. Scripted devices where an order must be forced.
#include <algorithm>
#include <map>

#include "conformance/sim/testing.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::sim {
namespace {

OptionList scripted(uint64_t seed) {
    return {{"sim.engines", "0"}, {"sim.seed", std::to_string(seed)}};
}

// Two queues of two values each, polled by turns: the order in which the values were seen to complete.
std::string trace(uint64_t seed) {
    Device device(scripted(seed));
    const auto region = device->must_alloc(coherent, 4096);
    const Queue a(device.instance()), b(device.instance());
    for (uint64_t i = 0; i < 2; ++i) {
        device->must_submit(a, {fill_command(region.region, 8 * i, 8, i, 8)});
        device->must_submit(b, {fill_command(region.region, 64 + 8 * i, 8, i, 8)});
    }
    std::string seen;
    uint64_t done_a = 0, done_b = 0;
    while (done_a + done_b < 4) {
        const uint64_t now_a = device->poll(a).completed, now_b = device->poll(b).completed;
        if (now_a == done_a && now_b == done_b) seen += '.';
        for (; done_a < now_a; ++done_a) seen += 'a';
        for (; done_b < now_b; ++done_b) seen += 'b';
    }
    return seen;
}

TEST(SimOrder, AScriptRunsTheSameWayEachTimeAndSeedsDiffer) {
    std::map<std::string, int> seen;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        EXPECT_EQ(trace(seed), trace(seed)) << seed;
        ++seen[trace(seed)];
    }
    EXPECT_GT(seen.size(), 5u);
}

TEST(SimOrder, QueuesOvertakeEachOtherUnlessOneWaits) {
    bool first = false, second = false;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        Device device(scripted(seed));
        const auto region = device->must_alloc(coherent, 4096);
        const Queue a(device.instance()), b(device.instance());
        device->must_submit(a, {fill_command(region.region, 0, 8, 1, 8)});
        const uint64_t last = device->must_submit(b, {fill_command(region.region, 0, 8, 2, 8)});
        device->must_complete(b, last);
        device->must_complete(a, 1);
        (word_at(region) == 1 ? first : second) = true;

        device->must_submit(a, {fill_command(region.region, 0, 8, 3, 8)});
        const uint64_t after = device->must_submit(b, {wait_command(a, 2), fill_command(region.region, 0, 8, 4, 8)});
        device->must_complete(b, after);
        EXPECT_EQ(word_at(region), 4u) << seed;
    }
    EXPECT_TRUE(first && second);
}

TEST(SimOrder, CommandsOfABatchAreUnorderedButForBarriers) {
    bool first = false, second = false;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        Device device(scripted(seed));
        const auto region = device->must_alloc(coherent, 4096);
        const Queue queue(device.instance());
        device->must_run(queue, {fill_command(region.region, 0, 8, 1, 8), fill_command(region.region, 0, 8, 2, 8)});
        (word_at(region) == 1 ? first : second) = true;
        device->must_run(
            queue, {fill_command(region.region, 0, 8, 1, 8), barrier_command(), fill_command(region.region, 0, 8, 2, 8)});
        EXPECT_EQ(word_at(region), 2u) << seed;
    }
    EXPECT_TRUE(first && second);
}

uint64_t bytes_moved(Device &device) {
    for (const hbf_reading &reading : device->must_read_health())
        if (reading.name == std::string_view("sim.bytes_moved")) return reading.value;
    return UINT64_MAX;
}

// A value of two fills of 100 bytes and one of 7: whether, for some seed, the second ran before the first was over.
bool runs_ahead(uint32_t tier, bool same_place, bool observed) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
        Device device(scripted(seed));
        const auto first = device->must_alloc(tier, 8192), other = device->must_alloc(tier, 8192);
        const Queue queue(device.instance()), observer(device.instance());
        const hbf_region place = same_place ? first.region : other.region;
        device->must_submit(queue, {fill_command(first.region, 0, 100, 1, 1), fill_command(first.region, 4096, 100, 1, 1)});
        const uint64_t last = device->must_submit(queue, {fill_command(place, 0, 7, 2, 1)});
        uint64_t before = 0;
        bool ahead = false;
        while (device->poll(queue).completed < last) {
            const uint64_t now = bytes_moved(device);
            ahead |= now == 107;
            if (observed && now == 107 && before != 107) {
                const uint64_t seen = device->must_submit(observer, {fill_command(other.region, 0, 1, 3, 1)});
                for (int i = 0; i < 3; ++i) {
                    device->poll(observer);
                    if (bytes_moved(device) % 100 != 7) {
                        EXPECT_EQ(device->poll(queue).completed, last) << "seed " << seed << ": somebody came between";
                        break;
                    }
                }
                device->must_complete(observer, seen);
            }
            before = now;
        }
        if (ahead) return true;
    }
    return false;
}

TEST(SimOrder, ValuesOfAQueueOverlapOnlyWhereNobodyCanTell) {
    EXPECT_TRUE(runs_ahead(cold, false, false));
    EXPECT_TRUE(runs_ahead(vram, false, false));
    EXPECT_FALSE(runs_ahead(cold, true, false)) << "the ranges conflict";
    EXPECT_FALSE(runs_ahead(coherent, false, false)) << "the CPU could look on";
    EXPECT_TRUE(runs_ahead(cold, false, true));
}

TEST(SimOrder, NothingRunsInsideSubmit) {
    Device device(scripted(1));
    const auto region = device->must_alloc(coherent, 4096);
    const Queue queue(device.instance());
    const uint64_t value = device->must_submit(queue, {fill_command(region.region, 0, 8, 1, 8)});
    EXPECT_EQ(word_at(region), 0u);
    EXPECT_EQ(device->free(region.region).status, HBF_BUSY);
    EXPECT_EQ(device->destroy_queue(queue).status, HBF_BUSY);
    device->must_complete(queue, value);
    EXPECT_EQ(device->free(region.region).status, HBF_OK);
}

TEST(SimOrder, OverTheDepthIsRefusedAndNothingLost) {
    Device device(scripted(1));
    const auto region = device->must_alloc(coherent, 4096);
    const Queue queue(device.instance(), 2);
    device->must_submit(queue, {fill_command(region.region, 0, 8, 1, 8)});
    device->must_submit(queue, {});
    uint64_t value = 99;
    EXPECT_EQ(device->submit(queue, {fill_command(region.region, 0, 8, 2, 8)}, value).status, HBF_EXHAUSTED);
    EXPECT_EQ(value, 0u);
    device->must_complete(queue, 1);
    EXPECT_EQ(word_at(region), 1u);
    EXPECT_EQ(device->must_submit(queue, {}), 3u);
    device->must_complete(queue, 3);
}

TEST(SimOrder, CancelTakesOutWhatHasNotBegun) {
    Device device(scripted(1));
    const auto region = device->must_alloc(coherent, 4096);
    const Queue queue(device.instance());
    device->must_submit(queue, {fill_command(region.region, 0, 8, 1, 8)});
    device->must_submit(queue, {fill_command(region.region, 8, 8, 2, 8)});
    EXPECT_EQ(device->cancel(queue, 2).status, HBF_OK);
    device->must_complete(queue, 2);
    EXPECT_EQ(word_at(region, 0), 1u);
    EXPECT_EQ(word_at(region, 8), 0u);
    EXPECT_EQ(device->cancel(queue, 2).status, HBF_BUSY);
    EXPECT_EQ(device->poll(queue).failed, 0u);
}

TEST(SimOrder, AFailureReachesThoseThatWaited) {
    Device device(OptionList{{"sim.fail", "1"}});
    const auto region = device->must_alloc(coherent, 4096), other = device->must_alloc(coherent, 4096);
    const Queue a(device.instance()), b(device.instance()), c(device.instance());
    device->must_submit(a, {copy_command(region.region, 0, other.region, 0, 8)});
    device->must_submit(b, {wait_command(a, 1), fill_command(other.region, 0, 8, 7, 8)});
    device->must_submit(c, {wait_command(b, 1)});
    ASSERT_EQ(device->wait(c, 1).status, HBF_OK);
    for (const Queue *const queue : {&a, &b, &c}) {
        const hbf_progress progress = device->poll(*queue);
        EXPECT_EQ(progress.completed, 1u);
        EXPECT_EQ(progress.failed, 1u);
        EXPECT_EQ(progress.status, HBF_DATA_LOSS);
        EXPECT_EQ(device->failure(*queue).region, other.region);
    }
    EXPECT_EQ(word_at(other), 0u) << "what waited on the failed value ran";
}

TEST(SimOrder, AWaitThatRunsOutLeavesTheWorkPending) {
    Device device(scripted(3));
    const auto region = device->must_alloc(coherent, 4096);
    const Queue queue(device.instance());
    uint64_t last = 0;
    for (uint64_t i = 0; i < 10; ++i) last = device->must_submit(queue, {fill_command(region.region, 0, 8, i, 8)});
    EXPECT_EQ(device->wait(queue, last, 0).status, HBF_TIMEOUT);
    EXPECT_EQ(device->free(region.region).status, HBF_BUSY);
    EXPECT_EQ(device->wait(queue, last, UINT64_MAX).status, HBF_OK);
    EXPECT_EQ(word_at(region), 9u);
}

TEST(SimOrder, QueuesOfManyThreadsRunSideBySide) {
    Device device;
    device.instance();
    run_threads(4, [&](unsigned thread) {
        ByteAccess access(device.instance());
        Random random(thread);
        const auto src = device->must_alloc(thread % 2 ? vram : cold, 20'000), dst = device->must_alloc(coherent, 20'000);
        std::vector<std::byte> bytes(20'000), model(20'000);
        for (std::byte &byte : bytes) byte = static_cast<std::byte>(random());
        access.write(src, 0, bytes);
        for (int i = 0; i < 200; ++i) {
            const uint64_t size = random.between(1, 2000), at = random.below(20'000 - size),
                           to = random.below(20'000 - size);
            const uint64_t last = device->must_submit(access.queue(), {copy_command(dst.region, to, src.region, at, size)});
            std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), size, model.begin() + static_cast<ptrdiff_t>(to));
            if (i % 8 == 7) device->must_complete(access.queue(), last);
        }
        EXPECT_EQ(access.read(dst, 0, 20'000), model);
    });
}

} // namespace
} // namespace hbf::sim
