// SPDX-License-Identifier: Apache-2.0
// Blocks that are fetched: the bits of those in memory, the ring runs ahead and across layers, and what fails is said and
// leaves nothing in flight.
#include <deque>

#include "core/engine/attention/exact.hpp"
#include "core/engine/attention/memory_place.hpp"
#include "core/engine/attention/region_source.hpp"
#include "core/engine/attention/source_place.hpp"
#include "core/engine/attention/testing/sequence.hpp"
#include "core/fabric/testing/allocations.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::kv {
namespace {

using testing::Blocks;
using testing::must;
using testing::random_query;
using testing::Sequence;

// Bytes arrive when they are waited for, not before; what is discarded never does.
class SlowSource final : public BlockSource {
public:
    struct Log {
        uint64_t started = 0, waited = 0, discarded = 0, most_in_flight = 0, bytes = 0;
        uint64_t fail_start = 0, fail_wait = 0; // the how manieth from now; 0: none
    };
    SlowSource(const std::vector<uint8_t> &bytes, Log &log) : bytes_(bytes), log_(log) {}

    uint64_t size() const noexcept override { return bytes_.size(); }
    Result<> attach(std::span<std::byte> memory) override {
        memory_ = memory;
        return {};
    }
    Result<uint64_t> start(std::span<const Fetch> fetches) override {
        if (log_.fail_start && --log_.fail_start == 0) return fail(Code::unavailable, "no fetch can begin");
        in_flight_.push_back({++log_.started, {fetches.begin(), fetches.end()}});
        log_.most_in_flight = std::max<uint64_t>(log_.most_in_flight, in_flight_.size());
        for (const Fetch &fetch : fetches) {
            log_.bytes += fetch.size;
            std::memset(memory_.data() + fetch.into, 0xff, fetch.size); // whoever looks too early finds NaN
        }
        return log_.started;
    }
    Result<> wait(uint64_t ticket) override {
        ++log_.waited;
        const auto fetches = take(ticket);
        if (log_.fail_wait && --log_.fail_wait == 0) return fail(Code::data_loss, "a granule is not what was written");
        for (const Fetch &fetch : fetches)
            std::memcpy(memory_.data() + fetch.into, bytes_.data() + fetch.offset, fetch.size);
        return {};
    }
    void discard(uint64_t ticket) noexcept override {
        ++log_.discarded;
        (void)take(ticket);
    }

private:
    std::vector<Fetch> take(uint64_t ticket) {
        EXPECT_FALSE(in_flight_.empty());
        EXPECT_EQ(in_flight_.front().first, ticket) << "not in order";
        auto fetches = std::move(in_flight_.front().second);
        in_flight_.pop_front();
        return fetches;
    }

    const std::vector<uint8_t> &bytes_;
    Log &log_;
    std::span<std::byte> memory_;
    std::deque<std::pair<uint64_t, std::vector<Fetch>>> in_flight_;
};

class SourcePlaceTest : public hbf::testing::FabricTest {
protected:
    SourcePlaceTest() : sequence(4, 2, 32, HBF_ELEMENT_FP16) {
        std::mt19937_64 random(1);
        sequence.append_random(1000, random);
        query = random_query(sequence.shape, 1, random);
        blocks = sequence.blocks(16); // 63 of 4 KiB
        MemoryPlace memory(blocks.bytes.data(), blocks.bytes.size());
        AttendPlace *const places[] = {&memory};
        expected.resize(query.size());
        must(attention.attend(blocks.shape, places, blocks.list, query.data(), 1, expected.data()));
    }
    std::unique_ptr<SourcePlace> open(const SourceOptions &options) {
        return must(SourcePlace::open(std::make_unique<SlowSource>(blocks.bytes, log), options));
    }
    Result<> attend(AttendPlace &place) {
        AttendPlace *const places[] = {&place};
        output.assign(query.size(), 0);
        return attention.attend(blocks.shape, places, blocks.list, query.data(), 1, output.data());
    }

    Sequence sequence;
    std::vector<float> query, expected, output;
    Blocks blocks;
    ExactAttention attention;
    SlowSource::Log log;
};

TEST_F(SourcePlaceTest, HasTheBitsOfMemoryAndRunsAhead) {
    for (const SourceOptions options : {SourceOptions{4096, 2}, {5 * 4096, 3}, {64 * 4096, 2}, {16 * 4096, 4}}) {
        log = {};
        auto place = open(options);
        must(attend(*place));
        EXPECT_EQ(output, expected) << options.window;
        EXPECT_EQ(log.bytes, blocks.bytes.size());
        EXPECT_EQ(place->traffic().bytes, blocks.bytes.size());
        EXPECT_EQ(log.waited, log.started);
        EXPECT_EQ(log.most_in_flight, std::min<uint64_t>(options.windows, log.started));
    }
}

TEST_F(SourcePlaceTest, TheNextLayerIsFetchedMeanwhile) {
    auto place = open({16 * 4096, 3});
    const auto list = blocks.plain();
    must(place->begin(blocks.shape, query.data(), list));
    place->prefetch(blocks.shape, list); // the next layer, which happens to be the same
    std::vector<float> state(list.size() * 8), result(list.size() * query.size());
    for (int layer = 0; layer < 5; ++layer) {
        if (layer != 0) {
            place->prefetch(blocks.shape, list);
            must(place->begin(blocks.shape, query.data(), list));
        }
        must(place->next(static_cast<uint32_t>(list.size()), state.data(), result.data()));
    }
    EXPECT_EQ(place->traffic().mispredicted, 0u);
    place.reset();
    EXPECT_EQ(log.started, log.waited + log.discarded);
    EXPECT_GT(log.started, 5 * 4u) << "of a sixth layer something was on its way";
}

TEST_F(SourcePlaceTest, ALayerThatWasAnnouncedIsOnItsWay) {
    auto place = open({16 * 4096, 3});
    AttendPlace *const places[] = {place.get()};
    attention.prefetch(blocks.shape, places, blocks.list);
    EXPECT_EQ(log.started, 3u) << "before there is a query";
    must(attend(*place));
    EXPECT_EQ(output, expected);
    EXPECT_EQ(log.started, 4u);
    EXPECT_EQ(place->traffic().mispredicted + place->traffic().dropped, 0u);
}

TEST_F(SourcePlaceTest, WhatWasGuessedWrongIsDroppedAndCounted) {
    auto place = open({16 * 4096, 3});
    auto others = blocks.plain();
    std::reverse(others.begin(), others.end());
    place->prefetch(blocks.shape, others);
    must(attend(*place));
    EXPECT_EQ(output, expected);
    EXPECT_EQ(place->traffic().mispredicted, 1u);
    EXPECT_EQ(place->traffic().dropped, 48u * 4096);
    EXPECT_EQ(log.discarded, 3u);
}

TEST_F(SourcePlaceTest, FailuresAreSaidAndOverAtOnce) {
    auto place = open({4 * 4096, 3});
    for (uint64_t nth = 1; nth <= 16; ++nth)
        for (const bool at_start : {true, false}) {
            (at_start ? log.fail_start : log.fail_wait) = nth;
            const auto done = attend(*place);
            ASSERT_FALSE(done) << nth;
            EXPECT_EQ(done.error().code, at_start ? Code::unavailable : Code::data_loss);
            EXPECT_EQ(log.started, log.waited + log.discarded) << "something is in flight";
            must(attend(*place));
            EXPECT_EQ(output, expected) << "after failure " << nth;
        }
}

TEST_F(SourcePlaceTest, BadInputIsRefused) {
    EXPECT_FALSE(SourcePlace::open(std::make_unique<SlowSource>(blocks.bytes, log), {4096, 1}));
    EXPECT_FALSE(SourcePlace::open(std::make_unique<SlowSource>(blocks.bytes, log), {5000, 2}));
    EXPECT_FALSE(SourcePlace::open(std::make_unique<SlowSource>(blocks.bytes, log), {0, 2}));
    auto place = open({4096, 2});
    blocks = sequence.blocks(32);
    const auto done = attend(*place);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("a block of 8192 bytes does not fit into windows of 4096"), std::string::npos)
        << done.error().message;
    blocks.list.back().at.offset += 1 << 20;
    EXPECT_FALSE(attend(*open({16384, 2})));
    EXPECT_EQ(log.started, 0u);
}

TEST_F(SourcePlaceTest, OnceWarmedNothingIsAllocated) {
    Device device = FabricTest::open();
    auto region = must(device.allocate(hbf::testing::dram, blocks.bytes.size()));
    std::memcpy(region.address, blocks.bytes.data(), blocks.bytes.size());
    auto place = must(SourcePlace::open(must(RegionSource::open(device, region.region)), {16 * 4096, 3}));
    for (int warm = 0; warm < 3; ++warm) must(attend(*place));
    EXPECT_EQ(output, expected);
    const auto before = hbf::testing::allocations();
    AttendPlace *const places[] = {place.get()};
    must(attention.attend(blocks.shape, places, blocks.list, query.data(), 1, output.data()));
    EXPECT_EQ(hbf::testing::allocations() - before, 0u);
}

// Memory that only the engine reaches, through the fabric, with its faults.
TEST_F(SourcePlaceTest, OfARegionOfTheFabric) {
    Device device = FabricTest::open();
    const uint64_t size = (blocks.bytes.size() + 65535) / 65536 * 65536;
    const auto region = must(device.allocate(hbf::testing::vram, size)),
               upload = must(device.allocate(hbf::testing::dram, size));
    std::memcpy(upload.address, blocks.bytes.data(), blocks.bytes.size());
    Queue queue = must(device.create_queue());
    Batch batch;
    batch.copy(region.region, 0, upload.region, 0, size, Integrity::next_read);
    must(queue.wait(must(queue.submit(batch)).value));
    const Integrity how[] = {Integrity::none, Integrity::next_read};
    for (const Integrity integrity : how) {
        const SourceOptions options{integrity == Integrity::none ? 16 * 4096ull : 2 * 65536ull, 3};
        auto place = must(SourcePlace::open(must(RegionSource::open(device, region.region, integrity)), options));
        must(attend(*place));
        EXPECT_EQ(output, expected);
        script.fail_copy = 2;
        const auto done = attend(*place);
        ASSERT_FALSE(done);
        must(attend(*place)); // over a queue of its own
        EXPECT_EQ(output, expected);
        script.lost = true;
        EXPECT_FALSE(attend(*place));
        script.lost = false;
    }
    EXPECT_EQ(script.live_regions, 2u);
}

} // namespace
} // namespace hbf::kv
