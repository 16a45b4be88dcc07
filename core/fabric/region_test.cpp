// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class Regions : public FabricTest {};

TEST_F(Regions, OpenCopiesWhatThePluginDeclares) {
    Device device = open();
    EXPECT_EQ(device.plugin_name(), "fake");
    EXPECT_EQ(device.id(), "a");
    EXPECT_EQ(device.name(), "fake a");
    EXPECT_TRUE(device.emulated());
    ASSERT_EQ(device.tiers().size(), 5u);
    EXPECT_EQ(device.find_tier("vram"), vram);
    EXPECT_EQ(device.find_tier("none"), std::nullopt);
    EXPECT_EQ(device.tiers()[vram].extended_by, cold);
    EXPECT_TRUE(device.tiers()[cold].persistent);
    ASSERT_EQ(device.domains().size(), 2u);
    EXPECT_TRUE(device.domains()[0].hardware);
    EXPECT_FALSE(device.domains()[1].hardware);
    EXPECT_EQ(code_of(device.health()), Code::unsupported);
}

TEST_F(Regions, ATierIsRealOnlyIfItAndItsDeviceSaySo) {
    for (const uint32_t device : {uint32_t{0}, HBF_REALITY_EMULATED, HBF_REALITY_REAL}) {
        for (const uint32_t tier : {uint32_t{0}, HBF_REALITY_EMULATED, HBF_REALITY_REAL}) {
            script.device_reality = device;
            script.tier_reality = tier;
            const Device opened = open();
            EXPECT_EQ(opened.emulated(), device != HBF_REALITY_REAL) << device;
            EXPECT_EQ(opened.tiers()[vram].emulated, device != HBF_REALITY_REAL || tier != HBF_REALITY_REAL)
                << device << tier;
        }
    }
}

TEST_F(Regions, AnUnknownDeviceIsNamedWithWhatThereIs) {
    const auto device = Device::open(fake_plugin(), fake_options("c"));
    ASSERT_EQ(code_of(device), Code::unavailable);
    EXPECT_TRUE(contains(device.error().message, "a, b")) << device.error().message;
    EXPECT_EQ(code_of(Device::open(nullptr)), Code::invalid);
}

TEST_F(Regions, ACreateThatFailsIsAnErrorWithThePluginsMessage) {
    script.create_status = HBF_PERMISSION;
    const auto device = Device::open(fake_plugin(), fake_options("a"));
    ASSERT_EQ(code_of(device), Code::permission);
    EXPECT_TRUE(contains(device.error().message, "told not to open"));
    EXPECT_EQ(script.live_instances, 0u);
}

TEST_F(Regions, AllocateDescribeFree) {
    Device device = open();
    const RegionInfo info = must(device.allocate(dram, 100'000));
    EXPECT_EQ(info.size, 100'000u);
    EXPECT_EQ(info.tier, dram);
    ASSERT_NE(info.address, nullptr);
    EXPECT_EQ(info.region.device, device.number());
    EXPECT_EQ(must(device.describe(info.region)).address, info.address);
    must(device.free(info.region));
    EXPECT_EQ(script.live_regions, 0u);
}

TEST_F(Regions, FreedTwiceAndUsedAfterFreeAreErrors) {
    Device device = open();
    Queue queue = must(device.create_queue());
    const RegionInfo one = must(device.allocate(dram, granule)), two = must(device.allocate(dram, granule));
    must(device.free(one.region));
    EXPECT_EQ(code_of(device.free(one.region)), Code::invalid);
    EXPECT_EQ(code_of(device.describe(one.region)), Code::invalid);
    EXPECT_EQ(code_of(device.written_by_cpu(one.region, 0, 1)), Code::invalid);
    EXPECT_EQ(code_of(queue.submit(copy(one, two, 64))), Code::invalid);
    EXPECT_EQ(code_of(queue.submit(copy(two, one, 64))), Code::invalid);
    // The slot is used again: the old handle stays dead.
    const RegionInfo three = must(device.allocate(dram, granule));
    EXPECT_EQ(three.region.slot, one.region.slot);
    EXPECT_NE(three.region.generation, one.region.generation);
    EXPECT_EQ(code_of(queue.submit(copy(one, two, 64))), Code::invalid);
    EXPECT_EQ(code_of(device.free(one.region)), Code::invalid);
    EXPECT_EQ(script.copies, 0u);
}

TEST_F(Regions, HandlesThatNeverWereAreErrors) {
    Device device = open();
    const uint32_t own = device.number();
    for (const Region region :
         {Region{}, Region{own, 0, 1}, Region{own, 77, 1}, Region{own, UINT32_MAX, 1}, Region{own, 1 << 20, 1},
          Region{own + 1000, 0, 1}, Region{UINT32_MAX, 0, 1}, Region{0, 0, 1}}) {
        EXPECT_EQ(code_of(device.free(region)), Code::invalid);
        EXPECT_EQ(code_of(device.describe(region)), Code::invalid);
    }
}

TEST_F(Regions, ZeroAndOverLimitSizesAreErrors) {
    Device device = open();
    EXPECT_EQ(code_of(device.allocate(dram, 0)), Code::invalid);
    EXPECT_EQ(code_of(device.allocate(9, 4096)), Code::invalid);
    EXPECT_EQ(code_of(device.allocate(dram, UINT64_MAX)), Code::exhausted);
    EXPECT_EQ(code_of(device.allocate(cold, script.cold_bytes + 1)), Code::exhausted);
    EXPECT_EQ(script.live_regions, 0u);
    // After a refusal the tier serves as before, and the slots that were meant for them are used.
    EXPECT_EQ(must(device.allocate(cold, script.cold_bytes)).region.slot, 0u);
}

TEST_F(Regions, FreeIsBusyWhileWorkNamesTheRegion) {
    Device device = open();
    Queue queue = must(device.create_queue());
    const RegionInfo one = must(device.allocate(dram, granule)), two = must(device.allocate(dram, granule));
    script.manual = true;
    const Point point = must(queue.submit(copy(one, two, granule)));
    EXPECT_EQ(code_of(device.free(one.region)), Code::busy);
    EXPECT_EQ(code_of(device.free(two.region)), Code::busy);
    EXPECT_EQ(code_of(queue.wait(point.value, 1ms)), Code::timeout);
    EXPECT_EQ(code_of(device.free(one.region)), Code::busy) << "a deadline that passes leaves regions busy";
    script.run();
    must(queue.wait(point.value));
    must(device.free(one.region));
    must(device.free(two.region));
}

TEST_F(Regions, SpillLandsInTheExtensionAndSaysSo) {
    script.vram_bytes = 1 << 20;
    Device device = open();
    must(device.allocate(vram, 1 << 20));
    EXPECT_EQ(code_of(device.allocate(vram, 4096)), Code::exhausted) << "never silently";
    AllocateOptions options;
    options.spill = true;
    const RegionInfo spilled = must(device.allocate(vram, 4096, options));
    EXPECT_TRUE(spilled.spilled);
    EXPECT_EQ(spilled.tier, cold);
    EXPECT_EQ(code_of(device.allocate(vram, script.cold_bytes, options)), Code::exhausted) << "the end of the chain";
}

TEST_F(Regions, NamesArePersistentTiersOnly) {
    Device device = open();
    AllocateOptions options;
    options.name = "kv";
    EXPECT_EQ(code_of(device.allocate(dram, 4096, options)), Code::unsupported);
    must(device.allocate(cold, 4096, options));
    options = {};
    options.open_existing = true;
    EXPECT_EQ(code_of(device.allocate(cold, 4096, options)), Code::invalid);
}

TEST_F(Regions, RegisteredMemoryIsARegion) {
    Device device = open();
    Queue queue = must(device.create_queue());
    std::vector<std::byte> memory(granule);
    const RegionInfo mine = must(device.register_host(memory)), theirs = must(device.allocate(vram, granule));
    EXPECT_EQ(mine.tier, HBF_TIER_NONE);
    EXPECT_EQ(mine.address, memory.data());
    write(mine, 0, granule, 3);
    const std::vector<std::byte> before = memory;
    must(queue.wait(must(queue.submit(copy(theirs, mine, granule))).value));
    std::fill(memory.begin(), memory.end(), std::byte{0});
    must(queue.wait(must(queue.submit(copy(mine, theirs, granule))).value));
    EXPECT_EQ(memory, before);
    must(device.free(mine.region));
    EXPECT_EQ(code_of(device.register_host({})), Code::invalid);
}

TEST_F(Regions, AClosedDevicesRegionsAreErrors) {
    Device device = open("a");
    Queue queue = must(device.create_queue());
    const RegionInfo here = must(device.allocate(dram, granule));
    RegionInfo there;
    {
        Device other = open("b");
        there = must(other.allocate(dram, granule));
    }
    EXPECT_EQ(other_script.live_instances, 0u);
    const auto point = queue.submit(copy(here, there, 64));
    ASSERT_EQ(code_of(point), Code::invalid);
    EXPECT_TRUE(contains(point.error().message, "closed")) << point.error().message;
    // The same device opened again has another number.
    Device again = open("b");
    EXPECT_NE(again.number(), there.region.device);
    EXPECT_EQ(code_of(again.free(there.region)), Code::invalid);
}

} // namespace
} // namespace hbf::testing
