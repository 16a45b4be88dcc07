// SPDX-License-Identifier: Apache-2.0
// Faults of regions, tiers and names.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/inject/wrapped_test.hpp"

namespace hbf::inject::testing {
namespace {

struct Made {
    hbf_status status = HBF_OK;
    hbf_region_info info{};
};
Made alloc(Wrapped &device, uint64_t size, uint64_t alignment = 0, const std::string &name = {}, uint32_t flags = 0,
           uint32_t tier = 0) {
    hbf_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.tier = tier;
    desc.size = size;
    desc.alignment = alignment;
    desc.name = {name.data(), name.size()};
    desc.flags = flags;
    Made made;
    made.info.struct_size = sizeof made.info;
    made.status = device.tier->alloc(device.instance, &desc, &made.info, nullptr);
    return made;
}

hbf_tier_info describe(Wrapped &device, uint32_t tier = 0) {
    hbf_tier_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(device.tier->describe(device.instance, tier, &info, nullptr), HBF_OK);
    return info;
}

TEST(Regions, ZeroSizes) {
    Wrapped device("zero-size-ok");
    const Made made = alloc(device, 0);
    EXPECT_EQ(made.status, HBF_OK);
    EXPECT_EQ(made.info.size, 0u);
    EXPECT_EQ(device.free(made.info.region).status, HBF_OK);
}

TEST(Regions, MoreThanThereIs) {
    Wrapped device("over-capacity-ok");
    const Made made = alloc(device, describe(device).capacity + 1);
    EXPECT_EQ(made.status, HBF_OK);
    EXPECT_EQ(made.info.size, describe(device).capacity + 1);
    Wrapped none("");
    EXPECT_EQ(alloc(none, describe(none).capacity + 1).status, HBF_EXHAUSTED);
}

TEST(Regions, Alignments) {
    Wrapped shifted("alignment-ignored"), odd("odd-alignment-ok");
    const Made made = alloc(shifted, 100, 4096);
    ASSERT_EQ(made.status, HBF_OK);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(made.info.address) % 4096, 8u);
    EXPECT_EQ(made.info.size, 100u);
    std::memset(made.info.address, 0, 100);
    EXPECT_EQ(shifted.run(shifted.make_queue(), {fill(made.info, 99, 1, 5)}).status, HBF_OK); // commands agree with the CPU
    EXPECT_EQ(bytes(made.info)[99], 5);
    EXPECT_EQ(alloc(odd, 100, 48).status, HBF_OK);
    EXPECT_EQ(alloc(odd, 0, 48).status, HBF_INVALID);
}

TEST(Regions, TwoShareTheirBytes) {
    Wrapped device("regions-share-memory");
    const hbf_region_info first = device.alloc(64), second = device.alloc(64);
    EXPECT_EQ(device.run(device.make_queue(), {fill(second, 0, 64, 9)}).status, HBF_OK);
    EXPECT_EQ(bytes(first)[0], 9);
    EXPECT_EQ(bytes(second)[0], 0);
    EXPECT_EQ(device.free(second.region).status, HBF_OK);
    EXPECT_EQ(device.free(first.region).status, HBF_OK);
    Wrapped mapping("regions-share-memory,what=mapping");
    const hbf_region_info a = mapping.alloc(64), b = mapping.alloc(64);
    EXPECT_EQ(bytes(b), bytes(a) + 32);
}

TEST(Regions, AHandleComesBack) {
    Wrapped device("handle-reused");
    const hbf_region old = device.alloc(64).region;
    EXPECT_EQ(device.free(old).status, HBF_OK);
    EXPECT_EQ(device.free(old).status, HBF_INVALID);
    const hbf_region_info fresh = device.alloc(64);
    EXPECT_EQ(fresh.region, old);
    EXPECT_EQ(device.run(device.make_queue(), {fill(fresh, 0, 64, 3)}).status, HBF_OK);
    EXPECT_EQ(bytes(fresh)[63], 3);
    EXPECT_EQ(device.free(old).status, HBF_OK);
    EXPECT_EQ(device.free(old).status, HBF_INVALID);
}

TEST(Regions, DeadHandlesAreTaken) {
    Wrapped twice("dead-handle-ok,what=free-twice"), zero("dead-handle-ok,what=zero");
    const hbf_region region = twice.alloc(64).region;
    EXPECT_EQ(twice.free(region).status, HBF_OK);
    EXPECT_EQ(twice.free(region).status, HBF_OK);
    EXPECT_EQ(zero.free(0).status, HBF_OK);
    EXPECT_EQ(zero.run(zero.make_queue(), {fill({}, 0, 64, 3)}).status, HBF_OK);
}

TEST(Regions, LeakedOnesAreGoneForTheHost) {
    Wrapped device("leak");
    const uint64_t half = describe(device).capacity / 2 + 4096;
    const Made first = alloc(device, half);
    ASSERT_EQ(first.status, HBF_OK);
    EXPECT_EQ(device.free(first.info.region).status, HBF_OK);
    EXPECT_EQ(device.free(first.info.region).status, HBF_INVALID);
    EXPECT_EQ(device.run(device.make_queue(), {fill(first.info, 0, 64, 3)}).status, HBF_INVALID);
    EXPECT_EQ(alloc(device, half).status, HBF_EXHAUSTED);
}

TEST(Regions, BusyOnes) {
    Wrapped ok("free-in-flight-ok;never-completes"), loses("never-completes;busy-free-loses-handle");
    for (Wrapped *device : {&ok, &loses}) {
        const hbf_region_info region = device->alloc(64);
        uint64_t value = 0;
        EXPECT_EQ(device->submit(device->make_queue(), {fill(region, 0, 64, 3)}, value).status, HBF_OK);
        EXPECT_EQ(device->free(region.region).status, HBF_BUSY); // by never-completes, above free-in-flight-ok
        EXPECT_EQ(device->free(region.region).status, device == &ok ? HBF_BUSY : HBF_INVALID);
    }
    Wrapped above("never-completes;free-in-flight-ok");
    const hbf_region_info region = above.alloc(64);
    uint64_t value = 0;
    EXPECT_EQ(above.submit(above.make_queue(), {fill(region, 0, 64, 3)}, value).status, HBF_OK);
    EXPECT_EQ(above.free(region.region).status, HBF_OK);
}

TEST(Regions, AFullTierClearsOne) {
    Wrapped device("full-tier-loses-region");
    const hbf_region_info last = device.alloc(4096);
    std::memset(last.address, 7, 4096);
    EXPECT_EQ(alloc(device, describe(device).capacity + 1).status, HBF_EXHAUSTED);
    EXPECT_EQ(bytes(last)[0], 0);
}

TEST(Regions, OldBytesAreShown) {
    Wrapped device("fresh-region-shows-old-bytes");
    const hbf_region_info old = device.alloc(4096);
    std::memset(old.address, 7, 4096);
    EXPECT_EQ(device.free(old.region).status, HBF_OK);
    const Made fresh = alloc(device, 100);
    EXPECT_EQ(bytes(fresh.info)[99], 7);
}

TEST(Regions, PagesAreIgnored) {
    hbf_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.size = 4096;
    desc.pages = HBF_PAGES_1G;
    hbf_region_info out{};
    out.struct_size = sizeof out;
    Wrapped none("");
    if (none.tier->alloc(none.instance, &desc, &out, nullptr) != HBF_UNAVAILABLE)
        GTEST_SKIP() << "this host has 1 GiB pages";
    Wrapped device("pages-ignored");
    EXPECT_EQ(device.tier->alloc(device.instance, &desc, &out, nullptr), HBF_OK);
}

TEST(Regions, TiersLie) {
    Wrapped none(""), capacity("capacity-overstated"), available("available-over-capacity"),
        bandwidth("bandwidth-overstated"), text("unterminated-string"), alignment("alignment-overstated");
    const hbf_tier_info honest = describe(none);
    EXPECT_EQ(describe(capacity).capacity, 2 * honest.capacity);
    EXPECT_GT(describe(available).available, honest.capacity);
    EXPECT_GT(describe(bandwidth).nominal_bandwidth, 1000u * 1000 * 1000 * 1000);
    EXPECT_EQ(std::memchr(describe(text).detail, 0, sizeof honest.detail), nullptr);
    EXPECT_GT(describe(alignment).alignment, honest.alignment);
}

TEST(Regions, ABitFadesWithTime) {
    if (under_thread_sanitizer) GTEST_SKIP() << "a bit that fades is a data race";
    Wrapped device("bit-fade,ms=1");
    const hbf_region_info region = device.alloc(64);
    EXPECT_EQ(device.run(device.make_queue(), {fill(region, 0, 64, 7)}).status, HBF_OK);
    const auto *now = static_cast<volatile unsigned char *>(region.address);
    const auto faded = [&] { // after a wait that is no part of what is asked
        for (int i = 0; i < 64; ++i)
            if (now[i] != 7) return true;
        return false;
    };
    while (!faded()) usleep(1000);
}

// A folder for named regions of the host plugin.
class Names : public ::testing::Test {
protected:
    Names() : folder_(std::filesystem::temp_directory_path() / ("hbf-inject-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
        std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    }
    ~Names() override { std::filesystem::remove_all(folder_); }
    OptionList options() const { return {{"storage_path", folder_.string()}, {"storage_bytes", "16MiB"}}; }
    static uint32_t storage(Wrapped &device) {
        for (uint32_t tier = 0; tier < device.tier->tier_count; ++tier)
            if (describe(device, tier).flags & HBF_TIER_FLAG_PERSISTENT) return tier;
        throw std::runtime_error("no persistent tier");
    }
    static Made open(Wrapped &device, const std::string &name, uint32_t flags = 0, uint64_t size = 4096) {
        return alloc(device, size, 0, name, flags, storage(device));
    }
    // Writes `byte` all over a region; or reads its first.
    static void put(Wrapped &device, const hbf_region_info &region, unsigned char byte) {
        EXPECT_EQ(device.run(device.make_queue(), {fill(region, 0, region.size, byte)}).status, HBF_OK);
    }
    static int get(Wrapped &device, const hbf_region_info &region) {
        const hbf_region_info memory = device.alloc(64);
        EXPECT_EQ(device.run(device.make_queue(), {copy(memory, 0, region, 0, 64)}).status, HBF_OK);
        return bytes(memory)[0];
    }
    // Stores 5 under a name in one instance and opens it in another; -1: it cannot be opened.
    int stored(const std::string &fault, bool free_it) {
        {
            Wrapped device(fault, options());
            const Made made = open(device, "kept");
            EXPECT_EQ(made.status, HBF_OK) << fault;
            put(device, made.info, 5);
            EXPECT_EQ(free_it ? device.free(made.info.region).status : HBF_OK, HBF_OK);
        }
        Wrapped device(fault, options());
        const Made made = open(device, "kept", HBF_ALLOC_OPEN_EXISTING);
        return made.status == HBF_OK ? get(device, made.info) : -1;
    }

private:
    std::filesystem::path folder_;
};

TEST_F(Names, AreKeptWithoutAFault) {
    EXPECT_EQ(stored("", true), 5);
}
TEST_F(Names, AreLostWhenOpenedAgain) {
    EXPECT_EQ(stored("persist-lost", true), 0);
}
TEST_F(Names, AreLostWithAnInstanceThatDidNotFreeThem) {
    EXPECT_EQ(stored("persist-lost,what=destroy", false), 0);
}
TEST_F(Names, KeepWhatWasStoredFirst) {
    Wrapped device("persist-keeps-first-bytes", options());
    for (const unsigned char byte : {5, 6}) {
        const Made made = open(device, "twice", byte == 6 ? HBF_ALLOC_OPEN_EXISTING : 0);
        put(device, made.info, byte);
        EXPECT_EQ(device.free(made.info.region).status, HBF_OK);
    }
    EXPECT_EQ(get(device, open(device, "twice", HBF_ALLOC_OPEN_EXISTING).info), 5);
}
TEST_F(Names, BadOnesAndTheLongest) {
    Wrapped any("any-name-ok", options());
    EXPECT_EQ(open(any, "../up").status, HBF_OK);
    any.destroy();
    Wrapped longest("longest-name-refused", options());
    EXPECT_EQ(open(longest, std::string(64, 'n')).status, HBF_INVALID);
    EXPECT_EQ(open(longest, std::string(63, 'n')).status, HBF_OK);
}
TEST_F(Names, OpeningMakesThem) {
    Wrapped device("open-existing-creates", options());
    EXPECT_EQ(open(device, "absent", HBF_ALLOC_OPEN_EXISTING).status, HBF_OK);
}
TEST_F(Names, StoresThatFailedCanBeOpened) {
    {
        Wrapped device("failed-store-visible", options());
        EXPECT_EQ(open(device, "large", 0, 1 << 30).status, HBF_EXHAUSTED);
        EXPECT_EQ(open(device, "large", HBF_ALLOC_OPEN_EXISTING, 1).status, HBF_OK);
    }
    Wrapped device("failed-store-visible,what=unfinished", options());
    const Made made = open(device, "unfinished");
    ASSERT_EQ(made.status, HBF_OK);
    put(device, made.info, 5);
    EXPECT_EQ(get(device, made.info), 5);
}
TEST_F(Names, OpenedLongerThanStored) {
    Wrapped device("opened-longer-than-stored", options());
    const Made made = open(device, "short");
    put(device, made.info, 5);
    EXPECT_EQ(device.free(made.info.region).status, HBF_OK);
    const Made longer = open(device, "short", HBF_ALLOC_OPEN_EXISTING, 1 << 20);
    ASSERT_EQ(longer.status, HBF_OK);
    const hbf_region_info memory = device.alloc(64);
    std::memset(memory.address, 9, 64);
    EXPECT_EQ(device.run(device.make_queue(), {copy(memory, 0, longer.info, (1 << 20) - 64, 64)}).status, HBF_OK);
    EXPECT_EQ(bytes(memory)[0], 0);
}
TEST_F(Names, AShortReadSaysThatItIsWhole) {
    Wrapped device("short-read", options());
    const Made made = open(device, "read", 0, 8192);
    put(device, made.info, 5);
    const hbf_region_info memory = device.alloc(8192);
    EXPECT_EQ(device.run(device.make_queue(), {copy(memory, 0, made.info, 0, 8192)}).status, HBF_OK);
    EXPECT_EQ(bytes(memory)[8192 - 513], 5);
    EXPECT_EQ(bytes(memory)[8192 - 512], 0);
}
TEST_F(Names, AFlipReachesWhatOnlyCommandsReach) {
    Wrapped device("flip,bit=0,tier=storage0", options());
    ASSERT_NE(device.instance, nullptr) << device.answer.message;
    const Made made = open(device, "flipped");
    put(device, made.info, 4);
    EXPECT_EQ(get(device, made.info), 5);
}

} // namespace
} // namespace hbf::inject::testing
