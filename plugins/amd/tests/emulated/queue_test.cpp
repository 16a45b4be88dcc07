// SPDX-License-Identifier: Apache-2.0
// Commands over an emulated runtime, in this process: fills of every width, memory that is registered twice, and what
// belongs to the embedding program.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/amd/tests/emulated/scene.hpp"

namespace hbf::amd {
namespace {

class EmulatedQueue : public testing::Test {
protected:
    void SetUp() override {
        AmdOptions options = small();
        options.peers = false;
        device = open_first(options, sdk::Log());
        queue = device->create_queue({});
    }
    hbf_region_info alloc(uint32_t tier, uint64_t size) { return amd::alloc(*device, tier, size); }
    static hbf_command fill(hbf_region dst, uint64_t at, uint64_t size, uint64_t pattern, uint32_t width) {
        hbf_command command{};
        command.kind = HBF_COMMAND_FILL;
        command.u.fill = {dst, at, size, pattern, width, 0};
        return command;
    }
    void run(const std::vector<hbf_command> &commands) {
        ASSERT_TRUE(queue->wait(submit(*queue, commands), 20'000'000'000));
        ASSERT_EQ(queue->poll().failed, 0u) << queue->failure()->message;
    }

    static bool known_to_runtime(void *at) {
        void *out = nullptr;
        const bool known = library().hip.HostGetDevicePointer(&out, at, 0) == code::success;
        (void)library().hip.GetLastError();
        return known;
    }

    std::unique_ptr<AmdInstance> device;
    std::unique_ptr<sdk::Queue> queue;
};

TEST_F(EmulatedQueue, FillsOfEveryWidthBeginAndEndAnywhere) {
    const hbf_region_info seen = alloc(1, 4096);
    const auto *const bytes = static_cast<const unsigned char *>(seen.address);
    for (const uint32_t tier : {0u, 1u}) {
        const hbf_region buffer = alloc(tier, 4096).region;
        for (const uint32_t width : {1u, 2u, 4u, 8u})
            for (const uint64_t at : {0u, 1u, 5u, 8u, 12u})
                for (const uint64_t size : {1u, 3u, 7u, 8u, 9u, 16u, 31u, 1000u, 4000u}) {
                    run({fill(buffer, 0, 4096, 0xee, 1)});
                    run({fill(buffer, at, size, 0x0807060504030201, width)});
                    run({copy_of(seen.region, 0, buffer, 0, 4096)});
                    for (uint64_t i = 0; i < 4096; ++i) {
                        const bool inside = i >= at && i < at + size;
                        ASSERT_EQ(bytes[i], inside ? 1 + (i - at) % width : 0xee)
                            << "tier " << tier << ", width " << width << ", at " << at << ", size " << size << ", byte "
                            << i;
                    }
                }
        device->free(buffer);
    }
}

TEST_F(EmulatedQueue, MemoryMayBeRegisteredAgainInPartsAndByOtherInstances) {
    std::vector<unsigned char> memory(256 * 1024, 0x11);
    AmdOptions options = small();
    options.peers = false;
    const auto other = open_first(options, sdk::Log());
    const hbf_region whole = device->register_host(memory.data(), memory.size()).region;
    const hbf_region part = device->register_host(memory.data() + 4096, 4096).region;
    const hbf_region again = other->register_host(memory.data(), memory.size()).region;
    device->free(whole);
    other->free(again);
    EXPECT_TRUE(known_to_runtime(memory.data() + 4096)) << "a part of it is registered still";
    const hbf_region buffer = alloc(0, 4096).region;
    run({fill(buffer, 0, 4096, 0x22, 1)});
    run({copy_of(part, 0, buffer, 0, 4096)});
    EXPECT_EQ(memory[4095], 0x11);
    EXPECT_EQ(memory[4096], 0x22);
    EXPECT_EQ(memory[8191], 0x22);
    EXPECT_EQ(memory[8192], 0x11);
    device->free(part);
    EXPECT_FALSE(known_to_runtime(memory.data() + 4096));
}

TEST_F(EmulatedQueue, WhatSomebodyElseRegisteredIsTakenAsItIsAndStaysTheirs) {
    const Hip &hip = library().hip;
    std::vector<unsigned char> memory(64 * 1024);
    ASSERT_EQ(hip.HostRegister(memory.data(), memory.size(), flag::register_portable | flag::register_mapped), 0);
    const hbf_region part = device->register_host(memory.data() + 4096, 8192).region;
    const hbf_region whole = device->register_host(memory.data(), memory.size()).region;
    run({fill(part, 0, 8192, 0x33, 1)});
    EXPECT_EQ(memory[4096], 0x33);
    device->free(part);
    device->free(whole);
    EXPECT_EQ(hip.HostUnregister(memory.data()), 0) << "it was the embedding program's to end";
}

TEST_F(EmulatedQueue, TheThreadsDeviceAndLastErrorStayTheEmbeddingPrograms) {
    const Hip &hip = library().hip;
    ASSERT_EQ(hip.SetDevice(1), 0);
    (void)hip.GetLastError();
    const hbf_region_info buffer = alloc(0, 1 << 20);
    run({fill(buffer.region, 0, 1 << 20, 1, 8)}); // was not ready for a while, as a rule
    std::vector<unsigned char> memory(65536);
    const hbf_region first = device->register_host(memory.data(), 32768).region;
    EXPECT_THROW((void)device->register_host(memory.data() + 16384, 32768), sdk::Failure) << "half of it is registered";
    int now = -1;
    ASSERT_EQ(hip.GetDevice(&now), 0);
    EXPECT_EQ(now, 1);
    EXPECT_EQ(hip.GetLastError(), code::success);
    device->free(first);
    device->free(buffer.region);
    ASSERT_EQ(hip.SetDevice(0), 0);
}

} // namespace
} // namespace hbf::amd
