// SPDX-License-Identifier: Apache-2.0
#include "crc32c.hpp"
#include "gf2.hpp"
#include "variants_test.hpp"

namespace hbf::kernels {
namespace {

using testing::Guarded;
using testing::random_bytes;

// Bit by bit, from the definition: shares nothing with the code under test.
uint32_t reference(const uint8_t *data, size_t size, uint32_t seed = 0) {
    uint32_t crc = ~seed;
    for (size_t i = 0; i < size; ++i) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
    }
    return ~crc;
}

TEST(Gf2, PowersAddUpAndMultiplicationIsByTheDefinition) {
    EXPECT_EQ(gf2::x_power(0), 0x80000000u);
    EXPECT_EQ(gf2::x_power(31), 1u);
    EXPECT_EQ(gf2::x_power(32), gf2::polynomial); // x^32 is the polynomial's lower part
    for (const uint64_t a : {1u, 7u, 31u, 64u, 1000u, 174592u})
        for (const uint64_t b : {0u, 1u, 33u, 512u, 4097u})
            EXPECT_EQ(gf2::multiply(gf2::x_power(a), gf2::x_power(b)), gf2::x_power(a + b));
}

class Crc32c : public testing::EachVariant {};
HBF_FOR_EACH_VARIANT(Crc32c);

TEST_P(Crc32c, KnownAnswers) { // RFC 3720 B.4
    EXPECT_EQ(crc32c("123456789", 9), 0xE3069283u);
    EXPECT_EQ(crc32c("", 0), 0u);
    std::vector<uint8_t> bytes(32, 0);
    EXPECT_EQ(crc32c(bytes.data(), 32), 0x8A9136AAu);
    bytes.assign(32, 0xFF);
    EXPECT_EQ(crc32c(bytes.data(), 32), 0x62A8AB43u);
    for (uint8_t i = 0; i < 32; ++i) bytes[i] = i;
    EXPECT_EQ(crc32c(bytes.data(), 32), 0x46DD794Eu);
    for (uint8_t i = 0; i < 32; ++i) bytes[i] = static_cast<uint8_t>(31 - i);
    EXPECT_EQ(crc32c(bytes.data(), 32), 0x113FDB5Cu);
}

TEST_P(Crc32c, EveryLengthUpToTheEdgeOfMappedMemory) {
    const Guarded memory(8192);
    const auto data = random_bytes(memory.size(), 1);
    memcpy(memory.begin(), data.data(), memory.size());
    for (size_t size = 0; size <= 4200; ++size)
        ASSERT_EQ(crc32c(memory.end() - size, size), reference(memory.end() - size, size)) << size;
}

TEST_P(Crc32c, EveryAlignment) {
    const auto data = random_bytes(1024, 2);
    for (size_t offset = 0; offset < 256; ++offset)
        for (const size_t size : {1u, 7u, 63u, 64u, 65u, 255u, 256u, 257u, 700u})
            ASSERT_EQ(crc32c(data.data() + offset, size), reference(data.data() + offset, size)) << offset << " " << size;
}

TEST_P(Crc32c, LongAndAroundTheLaneLengths) {
    const Guarded memory(400000);
    const auto data = random_bytes(memory.size(), 3);
    memcpy(memory.begin(), data.data(), memory.size());
    for (const size_t size :
         {4031u, 4032u, 4033u, 65471u, 65472u, 65473u, 65535u, 65536u, 65537u, 130944u, 196416u, 400000u}) {
        const uint8_t *const begin = memory.end() - size;
        ASSERT_EQ(crc32c(begin, size), reference(begin, size)) << size;
    }
}

TEST_P(Crc32c, SeedContinues) {
    const auto data = random_bytes(70000, 4);
    const uint32_t whole = crc32c(data.data(), data.size());
    for (const size_t cut : {0u, 1u, 64u, 511u, 4100u, 65536u, 69999u, 70000u})
        ASSERT_EQ(crc32c(data.data() + cut, data.size() - cut, crc32c(data.data(), cut)), whole) << cut;
}

TEST_P(Crc32c, EachSingleBitFlipShows) {
    auto data = random_bytes(65536, 5);
    const uint32_t good = crc32c(data.data(), data.size());
    for (size_t bit = 0; bit < data.size() * 8; bit += 997) {
        data[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
        ASSERT_NE(crc32c(data.data(), data.size()), good) << bit;
        data[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    }
}

TEST(Target, NamesOneOfThoseItListsAndRefusesOthers) {
    const auto names = kernels_targets();
    ASSERT_FALSE(names.empty());
    EXPECT_STREQ(kernels_target(), names.front());
    EXPECT_FALSE(use_kernels_target("NO_SUCH_CPU"));
    EXPECT_STREQ(kernels_target(), names.front());
    for (const char *name : names) {
        ASSERT_TRUE(use_kernels_target(name));
        EXPECT_STREQ(kernels_target(), name);
    }
    EXPECT_TRUE(use_kernels_target(""));
    EXPECT_STREQ(kernels_target(), names.front());
}

} // namespace
} // namespace hbf::kernels
