// SPDX-License-Identifier: Apache-2.0
// On a real runtime, where there is one: memory of the caller's, ends of fills, waits between queues, many threads.
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/opencl/discovery.hpp"
#include "plugins/opencl/instance.hpp"
#include "plugins/opencl/queue/queue.hpp"

namespace hbf::opencl {
namespace {

class RealDevice : public testing::Test {
protected:
    void SetUp() override {
        try {
            const Survey all = survey();
            OpenClOptions options;
            options.device_bytes = options.mapped_bytes = 64 << 20;
            device = std::make_unique<OpenClInstance>(open_device(library(), all.devices.front(), all), options, sdk::Log());
        } catch (const sdk::Failure &failure) {
            GTEST_SKIP() << "no OpenCL device here: " << failure.message;
        }
        queue = device->create_queue({});
    }
    hbf_region_info alloc(uint32_t tier, uint64_t size) {
        sdk::AllocRequest request;
        request.tier = tier;
        request.size = size;
        return device->alloc(request);
    }
    static hbf_command copy(hbf_region dst, uint64_t dst_at, hbf_region src, uint64_t src_at, uint64_t size) {
        hbf_command command{};
        command.kind = HBF_COMMAND_COPY;
        command.u.copy = {dst, dst_at, src, src_at, size, nullptr};
        return command;
    }
    static hbf_command fill(hbf_region dst, uint64_t at, uint64_t size, uint64_t pattern, uint32_t width) {
        hbf_command command{};
        command.kind = HBF_COMMAND_FILL;
        command.u.fill = {dst, at, size, pattern, width, 0};
        return command;
    }
    static uint64_t submit(sdk::Queue &to, const std::vector<hbf_command> &commands) {
        hbf_batch batch{};
        batch.struct_size = sizeof batch;
        batch.command_stride = sizeof(hbf_command);
        batch.commands = commands.data();
        batch.command_count = commands.size();
        return to.submit(sdk::BatchView(batch));
    }
    void run(const std::vector<hbf_command> &commands) {
        ASSERT_TRUE(queue->wait(submit(*queue, commands), UINT64_MAX));
        ASSERT_EQ(queue->poll().failed, 0u) << queue->failure()->message;
    }
    static std::vector<unsigned char> random_bytes(size_t size, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<unsigned char> out(size);
        for (unsigned char &byte : out) byte = static_cast<unsigned char>(random());
        return out;
    }

    std::unique_ptr<OpenClInstance> device;
    std::unique_ptr<sdk::Queue> queue;
};

constexpr uint64_t large = (3 << 20) + 12345; // more than the queue's staging buffer, and no whole number of it

TEST_F(RealDevice, CallersMemoryGoesEveryWay) {
    const auto data = random_bytes(large, 1);
    std::vector<unsigned char> from = data, to(large), around(large + 2, 0xee);
    const hbf_region a = device->register_host(from.data(), large).region;
    const hbf_region b = device->register_host(to.data(), large).region;
    const hbf_region c = device->register_host(around.data(), large + 2).region;
    const hbf_region buffer = alloc(0, large).region;
    run({copy(buffer, 0, a, 0, large)});
    run({copy(b, 0, buffer, 0, large)});
    EXPECT_TRUE(to == data) << "through a buffer";
    run({copy(c, 1, a, 0, large)});
    EXPECT_TRUE(std::equal(data.begin(), data.end(), around.begin() + 1)) << "from the host to the host";
    EXPECT_EQ(around.front(), 0xee);
    EXPECT_EQ(around.back(), 0xee);
    run({fill(c, 1, large, 0x0807060504030201, 8)});
    for (uint64_t i = 0; i < large; ++i) ASSERT_EQ(around[i + 1], 1 + i % 8) << i;
    EXPECT_EQ(around.front(), 0xee);
    EXPECT_EQ(around.back(), 0xee);
}

TEST_F(RealDevice, FillsOfEveryWidthBeginAndEndAnywhere) {
    std::vector<unsigned char> seen(128);
    const hbf_region host = device->register_host(seen.data(), seen.size()).region;
    const hbf_region buffer = alloc(0, seen.size()).region;
    for (const uint32_t width : {1u, 2u, 4u, 8u})
        for (uint64_t at = 0; at < 9; ++at)
            for (const uint64_t size : {1u, 2u, 3u, 7u, 8u, 9u, 15u, 16u, 17u, 64u, 65u}) {
                run({fill(buffer, 0, 128, 0xee, 1)});
                run({fill(buffer, at, size, 0x0807060504030201, width)});
                run({copy(host, 0, buffer, 0, 128)});
                for (uint64_t i = 0; i < 128; ++i) {
                    const bool inside = i >= at && i < at + size;
                    ASSERT_EQ(seen[i], inside ? 1 + (i - at) % width : 0xee)
                        << width << " " << at << " " << size << " " << i;
                }
            }
}

TEST_F(RealDevice, WhatTheCpuWritesIsCarriedByFlushAndBackByInvalidate) {
    const hbf_region_info mapped = alloc(1, 1 << 20);
    const hbf_region buffer = alloc(0, 1 << 20).region;
    auto *const cpu = static_cast<unsigned char *>(mapped.address);
    std::memset(cpu, 0x11, 1 << 20);
    hbf_command flush{}, invalidate{};
    flush.kind = HBF_COMMAND_FLUSH, invalidate.kind = HBF_COMMAND_INVALIDATE;
    flush.u.range = invalidate.u.range = {mapped.region, 0, 1 << 20};
    run({copy(buffer, 0, mapped.region, 0, 1 << 20), copy(mapped.region, 0, buffer, 0, 1 << 20), invalidate});
    EXPECT_EQ(cpu[0], 0) << "it was not flushed: commands see the zeros of a new region";
    std::memset(cpu, 0x22, 1 << 20);
    run({flush, copy(buffer, 0, mapped.region, 0, 1 << 20)});
    run({fill(mapped.region, 0, 1 << 20, 0x33, 1)});
    EXPECT_EQ(cpu[0], 0x22) << "nobody asked for it";
    run({invalidate});
    EXPECT_EQ(cpu[(1 << 20) - 1], 0x33);
}

TEST_F(RealDevice, ThreadsWithQueuesOfTheirOwnDoNotMeet) {
    std::vector<std::thread> threads;
    std::vector<std::string> wrong(4);
    for (unsigned t = 0; t < wrong.size(); ++t)
        threads.emplace_back([&, t] {
            const auto own = device->create_queue({});
            std::vector<unsigned char> seen(70000);
            const hbf_region host = device->register_host(seen.data(), seen.size()).region;
            for (unsigned round = 0; round < 50 && wrong[t].empty(); ++round) {
                const hbf_region buffer = alloc(round % 2, seen.size()).region;
                const unsigned char letter = static_cast<unsigned char>(t * 50 + round + 1);
                const uint64_t value = submit(*own, {fill(buffer, 0, seen.size(), letter, 1)});
                const uint64_t last = submit(*own, {copy(host, 0, buffer, 0, seen.size())});
                if (!own->wait(last, 20'000'000'000) || own->poll().completed < value) wrong[t] = "it did not complete";
                for (const unsigned char byte : seen)
                    if (byte != letter) wrong[t] = "bytes of another";
                device->free(buffer);
            }
            device->free(host);
        });
    for (std::thread &thread : threads) thread.join();
    for (const std::string &one : wrong) EXPECT_EQ(one, "");
}

TEST_F(RealDevice, AWaitThatRunsOutLeavesTheRegionsBusy) {
    const hbf_region a = alloc(0, 16 << 20).region, b = alloc(0, 16 << 20).region;
    std::vector<hbf_command> commands;
    for (int i = 0; i < 40; ++i) commands.push_back(copy(a, 0, b, 0, 16 << 20));
    const uint64_t value = submit(*queue, commands);
    if (!queue->wait(value, 0)) {
        try {
            device->free(a);
            // Only if it was done by then.
            EXPECT_TRUE(queue->wait(value, 0)) << "a region went while a command used it";
        } catch (const sdk::Failure &failure) {
            EXPECT_EQ(failure.status, HBF_BUSY);
        }
    }
    EXPECT_TRUE(queue->wait(value, UINT64_MAX));
    EXPECT_TRUE(queue->idle());
    device->free(b);
}

} // namespace
} // namespace hbf::opencl
