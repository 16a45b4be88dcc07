// SPDX-License-Identifier: Apache-2.0
// Bytes arrive, or it is said that they did not: over every pair of kinds of memory, under every fault of a device.
#include <optional>

#include "core/engine/migration/copier.hpp"
#include "core/engine/migration/copy_verified.hpp"
#include "core/fabric/testing/fixture.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::kv {
namespace {

using namespace hbf::testing;
constexpr uint64_t bytes = 3 * granule_size;

class CopierTest : public FabricTest {
protected:
    void SetUp() override {
        must(source->allocate(1)); // so that granules and offsets differ
        from = must(source->allocate(3));
        const Spot spot = source->at(from);
        for (uint64_t i = 0; i < bytes; ++i) spot.address[i] = static_cast<std::byte>(i * 31 + i / 509);
        for (int i = 0; i < 3; ++i) spot.crc[i] = kernels::crc32c(spot.address + i * granule_size, granule_size);
    }
    std::unique_ptr<TierPool> pool(FakeTier tier, Device &of) {
        return std::make_unique<TierPool>(Tier::hbf, of, of.tiers()[tier], tier == dram, 64 * granule_size, 16);
    }
    Copier::Clock::time_point soon() { return Copier::Clock::now() + 20s; }

    Device device = open(), far = open("b");
    std::unique_ptr<TierPool> source = pool(dram, device);
    uint64_t from = 0;
    Copier copier{*source, 16 * granule_size};
};

struct Way {
    const char *name;
    FakeTier tier;
    bool far;
};
class CopierOver : public CopierTest, public ::testing::WithParamInterface<Way> {
protected:
    std::unique_ptr<TierPool> there = pool(GetParam().tier, GetParam().far ? far : device);
    uint64_t to = must(there->allocate(3));
    Result<> out() { return copier.copy(*there, there->at(to), *source, source->at(from), bytes, soon()); }
};

TEST_P(CopierOver, ThereAndBack) {
    must(out());
    const uint64_t back = must(source->allocate(3));
    must(copier.copy(*source, source->at(back), *there, there->at(to), bytes, soon()));
    EXPECT_EQ(std::memcmp(source->at(back).address, source->at(from).address, bytes), 0);
    EXPECT_EQ(source->at(back).crc[2], source->at(from).crc[2]);
    const std::byte *const seen = must(copier.fetch(*there, there->at(to), bytes, soon()));
    EXPECT_EQ(std::memcmp(seen, source->at(from).address, bytes), 0);
}

TEST_P(CopierOver, ADamagedSourceIsNeverASuccess) {
    source->at(from).address[2 * granule_size + 77] ^= std::byte{4};
    const auto outcome = out();
    ASSERT_EQ(code_of(outcome), Code::data_loss);
    EXPECT_TRUE(contains(outcome.error().message, "granule 2 ")) << outcome.error().message;
    EXPECT_EQ(outcome.error().offset, there->at(to).offset + 2 * granule_size);
    EXPECT_FALSE(copier.in_flight());
}

class CopierByDevice : public CopierOver {};

TEST_P(CopierByDevice, FaultsOfTheDeviceAreNeverASuccess) {
    for (auto fault : {&Script::flip_bit, &Script::drop_copy, &Script::fail_copy, &Script::short_read}) {
        const uint64_t fresh = must(there->allocate(3)); // nothing right lies there from before
        script.*fault = 1;
        other_script.*fault = 1;
        const auto outcome = copier.copy(*there, there->at(fresh), *source, source->at(from), bytes, soon());
        EXPECT_FALSE(outcome);
        script.*fault = 0;
        other_script.*fault = 0;
        must(copier.copy(*there, there->at(fresh), *source, source->at(from), bytes, soon())); // a failure is over with it
    }
}

// Else a device that says done too early would be believed, and its copy come from a source that is another's by then.
TEST_P(CopierByDevice, TheRightBytesFromBeforeProveNothing) {
    must(out());
    if (there->at(to).address == nullptr) GTEST_SKIP() << "read back by the same queue, behind the copy";
    script.drop_copy = 1;
    other_script.drop_copy = 1;
    EXPECT_EQ(code_of(out()), Code::data_loss);
    script.drop_copy = 0;
    other_script.drop_copy = 0;
    must(out());
}

TEST_P(CopierByDevice, WhatIsNotThereMayComeYetAndItsPlaceIsFreeOnceTheQueueHasEnded) {
    script.drop_copy = 1;
    other_script.drop_copy = 1;
    ASSERT_EQ(code_of(out()), Code::data_loss);
    copier.free_when_finished(*there, to, 3);
    EXPECT_EQ(there->used(), 3u);
    copier.settle();
    EXPECT_EQ(there->used(), 0u);
    script.drop_copy = 0;
    other_script.drop_copy = 0;
    to = must(there->allocate(3));
    must(out());
}

TEST_P(CopierByDevice, WhatIsHeldForAQueueIsFreeAlsoWhereAnErrorEndedItBefore) {
    script.drop_copy = 1;
    other_script.drop_copy = 1;
    ASSERT_EQ(code_of(out()), Code::data_loss);
    script.drop_copy = 0;
    other_script.drop_copy = 0;
    script.fail_copy = 1;
    other_script.fail_copy = 1;
    EXPECT_FALSE(copier.fetch(*there, there->at(to), bytes, soon()));
    script.fail_copy = 0;
    other_script.fail_copy = 0;
    copier.free_when_finished(*there, to, 3);
    copier.settle();
    EXPECT_EQ(there->used(), 0u);
}

TEST_P(CopierByDevice, FetchFindsDamage) {
    must(out());
    there->at(to).crc[1] ^= 1;
    EXPECT_EQ(code_of(copier.fetch(*there, there->at(to), bytes, soon())), Code::data_loss);
}

const auto name_of = [](const auto &way) { return std::string(way.param.name); };
constexpr Way ways[] = {
    {"soft", soft, false}, {"vram", vram, false}, {"cold", cold, false}, {"far_vram", vram, true}, {"dram", dram, false}};
INSTANTIATE_TEST_SUITE_P(Everywhere, CopierOver, ::testing::ValuesIn(ways), name_of);
INSTANTIATE_TEST_SUITE_P(Everywhere, CopierByDevice, ::testing::ValuesIn(ways, ways + 4), name_of); // dram: by the CPU

TEST_F(CopierTest, WhatIsLateIsTakenBackAndItsMemoryStaysBusyUntilTheDeviceIsDone) {
    auto there = pool(vram, device);
    const uint64_t to = must(there->allocate(3));
    script.manual = true; // nothing runs
    script.cancel_works = false;
    const auto outcome = copier.copy(*there, there->at(to), *source, source->at(from), bytes, Copier::Clock::now() + 5ms);
    ASSERT_EQ(code_of(outcome), Code::timeout) << outcome.error().message;
    ASSERT_TRUE(copier.in_flight());
    copier.free_when_finished(*there, to, 3);
    copier.settle();
    EXPECT_EQ(there->used(), 3u) << "the device may still write there";
    script.manual = false;
    script.run();
    copier.settle();
    EXPECT_EQ(there->used(), 0u);
    const uint64_t next = must(there->allocate(3));
    must(copier.copy(*there, there->at(next), *source, source->at(from), bytes, soon()));
}

// A device that never finishes holds up nobody, and keeps what it may still write to.
TEST_F(CopierTest, ADeviceThatHangsIsLeftWithItsMemory) {
    auto there = pool(vram, device);
    const uint64_t to = must(there->allocate(3));
    std::optional<Copier> impatient(std::in_place, *source, 16 * granule_size, 10ms);
    script.manual = true;
    script.cancel_works = false;
    ASSERT_EQ(code_of(impatient->copy(*there, there->at(to), *source, source->at(from), bytes, Copier::Clock::now() + 5ms)),
              Code::timeout);
    impatient->free_when_finished(*there, to, 3);
    impatient.reset(); // would wait for ever
    EXPECT_EQ(there->used(), 3u);
    script.manual = false;
    script.run(); // now it writes: to memory that nobody else has got
    const uint64_t next = must(there->allocate(3));
    EXPECT_NE(next, to);
    must(copier.copy(*there, there->at(next), *source, source->at(from), bytes, soon()));
}

TEST_F(CopierTest, WhatNeverReachedTheDeviceIsFreeAtOnce) {
    auto there = pool(vram, device);
    const uint64_t to = must(there->allocate(3));
    script.manual = true;
    ASSERT_EQ(code_of(copier.copy(*there, there->at(to), *source, source->at(from), bytes, Copier::Clock::now())),
              Code::timeout);
    copier.free_when_finished(*there, to, 3);
    script.manual = false;
    script.run();
    copier.settle();
    EXPECT_EQ(there->used(), 0u);
}

TEST_F(CopierTest, ALostDeviceIsAnError) {
    auto there = pool(vram, far);
    const uint64_t to = must(there->allocate(3));
    other_script.lost = true;
    script.lost = true;
    EXPECT_FALSE(copier.copy(*there, there->at(to), *source, source->at(from), bytes, soon()));
    EXPECT_FALSE(copier.fetch(*there, there->at(to), bytes, soon()));
}

TEST(CopyVerified, SaysWhichGranule) {
    std::vector<std::byte> a(bytes), b(bytes);
    uint32_t crc[3];
    for (uint64_t i = 0; i < bytes; ++i) a[i] = static_cast<std::byte>(i * 7 + i / 251);
    for (int i = 0; i < 3; ++i) crc[i] = kernels::crc32c(a.data() + i * granule_size, granule_size);
    EXPECT_EQ(copy_verified(b.data(), a.data(), bytes, crc), -1);
    EXPECT_EQ(a, b);
    EXPECT_EQ(find_damage(b.data(), bytes, crc), -1);
    for (const uint64_t at : {uint64_t{0}, granule_size - 1, granule_size + 8191, bytes - 1}) {
        a[at] ^= std::byte{0x80};
        EXPECT_EQ(copy_verified(b.data(), a.data(), bytes, crc), static_cast<int64_t>(at / granule_size)) << at;
        EXPECT_EQ(find_damage(a.data(), bytes, crc), static_cast<int64_t>(at / granule_size)) << at;
        a[at] ^= std::byte{0x80};
    }
}

} // namespace
} // namespace hbf::kv
