// SPDX-License-Identifier: Apache-2.0
// Blocks attended by a device, here the fake one with the project's kernels run as their twins: the bits of those in memory,
// nothing but results comes out, and what fails is said.
#include "core/engine/attention/device_place.hpp"
#include "core/engine/attention/exact.hpp"
#include "core/engine/attention/memory_place.hpp"
#include "core/engine/attention/testing/sequence.hpp"
#include "core/fabric/testing/allocations.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::kv {
namespace {

using testing::Blocks;
using testing::must;
using testing::random_query;
using testing::Sequence;

class DevicePlaceTest : public hbf::testing::FabricTest {
protected:
    DevicePlaceTest() : sequence(4, 2, 32, HBF_ELEMENT_FP16) {
        script.kernels = {"attention/1"};
        std::mt19937_64 random(1);
        sequence.append_random(530, random);
        query = random_query(sequence.shape, 3, random);
        blocks = sequence.blocks(16);
        MemoryPlace memory(blocks.bytes.data(), blocks.bytes.size());
        for (const uint32_t tokens : {1u, 3u}) expected[tokens] = must(attend(memory, tokens));
    }
    void upload() {
        device.emplace(FabricTest::open());
        const uint64_t size = blocks.bytes.size();
        region = must(device->allocate(hbf::testing::vram, size));
        const auto from = must(device->allocate(hbf::testing::dram, size));
        std::memcpy(from.address, blocks.bytes.data(), size);
        Queue queue = must(device->create_queue());
        must(queue.wait(must(queue.submit(hbf::testing::copy(region, from, size))).value));
        must(device->free(from.region));
    }
    Result<std::vector<float>> attend(AttendPlace &place, uint32_t tokens) {
        AttendPlace *const places[] = {&place};
        std::vector<float> output(size_t{tokens} * sequence.shape.query_heads * sequence.shape.head_dim);
        if (auto done = attention.attend(blocks.shape, places, blocks.list, query.data(), tokens, output.data()); !done)
            return tl::unexpected(done.error());
        return output;
    }
    void expect_right(const std::vector<float> &output, uint32_t tokens) {
        if (kernels::attention_is_fused()) {
            EXPECT_EQ(output, expected[tokens]);
        } else {
            for (size_t i = 0; i < output.size(); ++i) EXPECT_NEAR(output[i], expected[tokens][i], 1e-5);
        }
    }

    Sequence sequence;
    std::vector<float> query;
    std::map<uint32_t, std::vector<float>> expected;
    Blocks blocks;
    ExactAttention attention;
    std::optional<Device> device;
    RegionInfo region;
};

TEST_F(DevicePlaceTest, HasTheBitsOfMemory) {
    upload();
    for (const DevicePlaceOptions options : {DevicePlaceOptions{}, {5, 1 << 20, 3, 7}, {1, 8192, 1, 1}}) {
        auto place = must(DevicePlace::open(*device, region.region, options));
        for (const uint32_t tokens : {1u, 3u}) expect_right(must(attend(*place, tokens)), tokens);
        EXPECT_GE(place->work().blocks, 2 * blocks.list.size());
        EXPECT_GT(place->work().launches, options.window < 34 ? blocks.list.size() / options.window : 1);
    }
    EXPECT_EQ(script.live_regions, 1u);
}

TEST_F(DevicePlaceTest, KeysAndValuesStayThere) {
    upload();
    auto place = must(DevicePlace::open(*device, region.region));
    const uint64_t before = script.copied_bytes;
    expect_right(must(attend(*place, 1)), 1);
    const uint64_t results = blocks.list.size() * 4 * (2 + 32) * sizeof(float);
    EXPECT_EQ(place->work().bytes_out, results);
    EXPECT_EQ(script.copied_bytes - before, results + place->work().bytes_in + place->work().bytes_again);
    EXPECT_LE(place->work().bytes_again, results + place->work().bytes_in + query.size() * sizeof(float));
    EXPECT_LE(place->work().bytes_in, blocks.list.size() * sizeof(kv_block) + query.size() * sizeof(float));
}

TEST_F(DevicePlaceTest, BesideBlocksInMemory) {
    upload();
    auto there = must(DevicePlace::open(*device, region.region));
    MemoryPlace here(blocks.bytes.data(), blocks.bytes.size());
    AttendPlace *const places[] = {&here, there.get()};
    std::mt19937 random(3);
    for (Block &block : blocks.list) block.place = random() % 2;
    std::vector<float> output(expected[1].size());
    must(attention.attend(blocks.shape, places, blocks.list, query.data(), 1, output.data()));
    expect_right(output, 1);
}

TEST_F(DevicePlaceTest, WhereNoHostMemoryCanBeRegistered) {
    script.can_register = false;
    upload();
    auto place = must(DevicePlace::open(*device, region.region));
    expect_right(must(attend(*place, 1)), 1);
}

TEST_F(DevicePlaceTest, FailuresAreSaidAndOverAtOnce) {
    upload();
    auto place = must(DevicePlace::open(*device, region.region, {8, 1 << 20, 4, 16}));
    for (int nth = 1; nth <= 5; ++nth)
        for (auto *const fault : {&script.fail_launch, &script.fail_copy}) {
            *fault = nth;
            const auto done = attend(*place, 1);
            ASSERT_FALSE(done) << nth;
            EXPECT_EQ(done.error().code, Code::internal) << done.error().message;
            *fault = 0;
            expect_right(must(attend(*place, 1)), 1);
        }
    script.lost = true;
    const auto done = attend(*place, 1);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::device_lost);
}

// Of the five copies of a launch, and the query's before the first, each in turn.
TEST_F(DevicePlaceTest, WhatArrivesOtherwiseIsFound) {
    upload();
    auto place = must(DevicePlace::open(*device, region.region, {8, 1 << 20, 4, 16}));
    expect_right(must(attend(*place, 1)), 1);
    for (int nth = 1; nth <= 11; ++nth)
        for (auto *const fault : {&script.flip_bit, &script.drop_copy}) {
            *fault = nth;
            const auto done = attend(*place, 1);
            if (done && fault == &script.drop_copy) { // the same query and table lay there from before
                expect_right(*done, 1);
                continue;
            }
            ASSERT_FALSE(done) << nth;
            EXPECT_EQ(done.error().code, Code::data_loss) << done.error().message;
            *fault = 0;
            expect_right(must(attend(*place, 1)), 1);
        }
}

TEST_F(DevicePlaceTest, BadInputIsRefused) {
    upload();
    EXPECT_EQ(DevicePlace::open(*device, region.region, {0}).error().code, Code::invalid);
    auto place = must(DevicePlace::open(*device, region.region, {4, 4096, 4, 16}));
    blocks.shape.query_heads = 64;
    query.resize(64 * 32);
    AttendPlace *const places[] = {place.get()};
    std::vector<float> output(query.size());
    const auto done = attention.attend(blocks.shape, places, blocks.list, query.data(), 1, output.data());
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("results of a block need"), std::string::npos) << done.error().message;
    script.kernels = {};
    const Device without = FabricTest::open("b");
    auto other = must(FabricTest::open("b").allocate(hbf::testing::vram, 4096));
    const auto none = DevicePlace::open(without, other.region);
    ASSERT_FALSE(none);
}

TEST_F(DevicePlaceTest, OnceWarmedNothingIsAllocated) {
    upload();
    auto place = must(DevicePlace::open(*device, region.region, {8, 1 << 20, 4, 16}));
    AttendPlace *const places[] = {place.get()};
    std::vector<float> output(expected[1].size());
    const auto step = [&] { must(attention.attend(blocks.shape, places, blocks.list, query.data(), 1, output.data())); };
    for (int warm = 0; warm < 40; ++warm) step(); // each entry of the queue's ring has memory of its own
    const auto before = hbf::testing::allocations();
    step();
    EXPECT_EQ(hbf::testing::allocations() - before, 0u);
}

} // namespace
} // namespace hbf::kv
