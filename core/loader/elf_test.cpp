// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <random>

#include <elf.h>
#include <gtest/gtest.h>

#include "core/loader/elf.hpp"
#include "core/loader/elf_dynamic.hpp"
#include "core/loader/hostile/scene.hpp"
#include "hbf/abi/host.h"

namespace hbf::loader {
namespace {

constexpr const char *entry = "hbf_plugin_query";

ElfFacts examine(const std::string &bytes) {
    return examine_elf(MemoryBytes(bytes), entry);
}

std::string good() {
    return hostile::read_bytes(hostile::built() / "chameleon.so");
}

// Only what is loaded: the headers and segments, without debug information, so that every length can be tried.
std::string smallest() {
    return hostile::read_bytes(hostile::built() / "plain_entry.so");
}

TEST(Elf, AcceptsAPluginAndNamesWhatItNeeds) {
    const ElfFacts facts = examine(good());
    EXPECT_FALSE(facts.refused) << facts.refused->detail;
    EXPECT_NE(std::find(facts.needed.begin(), facts.needed.end(), "libc.so.6"), facts.needed.end());
}

TEST(Elf, EveryTruncationIsRefused) {
    const std::string bytes = smallest();
    ASSERT_FALSE(examine(bytes).refused) << examine(bytes).refused->detail;
    for (size_t length = 0; length < bytes.size(); ++length) {
        const ElfFacts facts = examine(bytes.substr(0, length));
        ASSERT_TRUE(facts.refused) << "accepted " << length << " of " << bytes.size() << " bytes";
        EXPECT_EQ(facts.refused->reason, Reason::not_a_plugin) << length;
    }
}

TEST(Elf, WithoutSectionHeadersOnlyWhatIsLoadedCounts) {
    std::string bytes = smallest();
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const uint64_t sections = header.e_shoff;
    header.e_shoff = 0;
    header.e_shnum = header.e_shstrndx = 0;
    std::memcpy(bytes.data(), &header, sizeof header);
    bytes.resize(sections);
    EXPECT_FALSE(examine(bytes).refused);
}

// No flip may crash, read outside (the sanitizer sees it) or take long; what is answered does not matter.
TEST(Elf, RandomDamageIsSurvived) {
    const std::string bytes = smallest();
    std::mt19937 random(20240501);
    size_t refused = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string damaged = bytes;
        // Mostly the front, where headers and tables are.
        const size_t reach = round % 4 == 0 ? damaged.size() : std::min<size_t>(damaged.size(), 2048);
        for (unsigned flips = 1 + random() % 8; flips > 0; --flips) damaged[random() % reach] = static_cast<char>(random());
        refused += examine(damaged).refused.has_value();
    }
    EXPECT_GT(refused, 1000u);
}

TEST(Elf, AbsurdFieldsAreSurvived) {
    const std::string bytes = smallest();
    for (const uint64_t value : {uint64_t{0}, uint64_t{1}, UINT64_MAX, UINT64_MAX - 7, uint64_t{1} << 63,
                                 uint64_t{0x7fffffff}, uint64_t{0xffffffff}}) {
        for (size_t offset = 0; offset + sizeof value <= std::min<size_t>(bytes.size(), 4096); offset += 4) {
            std::string damaged = bytes;
            std::memcpy(damaged.data() + offset, &value, sizeof value);
            examine(damaged);
        }
    }
}

TEST(Elf, AnAddressRangeLiesInOneSegmentOrNowhere) {
    AddressMap map;
    ASSERT_TRUE(map.add(0x1000, 0x40, 0x100));
    ASSERT_TRUE(map.add(0x1100, 0x900, 0x100));
    EXPECT_FALSE(map.add(UINT64_MAX, 0, 2));
    EXPECT_EQ(map.offset(0x10f0, 0x10), 0x130u);
    EXPECT_FALSE(map.offset(0x10f0, 0x11)) << "goes on elsewhere in the file";
    EXPECT_FALSE(map.offset(0x0fff, 1));
    EXPECT_FALSE(map.offset(0x1200, 1));
    EXPECT_FALSE(map.offset(0x1000, UINT64_MAX));
}

TEST(Elf, TheOlderHashTableServesToo) {
    const auto file = hostile::built() / "sysv_entry.so";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "this linker makes no DT_HASH";
    EXPECT_FALSE(examine(hostile::read_bytes(file)).refused);
}

TEST(Elf, ASymbolOfAnotherLibraryIsNone) {
    const ElfFacts facts = examine(hostile::read_bytes(hostile::built() / "borrowed_entry.so"));
    ASSERT_TRUE(facts.refused);
    EXPECT_EQ(facts.refused->reason, Reason::not_a_plugin);
    EXPECT_NE(facts.refused->detail.find("does not itself define"), std::string::npos);
}

TEST(Elf, TellsASanitizer) {
    const auto file = hostile::built() / "asan_plugin.so";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no address sanitizer here, or everything is built with one";
    EXPECT_EQ(examine(hostile::read_bytes(file)).sanitizer, HBF_SANITIZER_ADDRESS);
    EXPECT_EQ(examine(smallest()).sanitizer, HBF_SANITIZER_NONE);
}

} // namespace
} // namespace hbf::loader
