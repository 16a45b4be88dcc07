// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <unordered_set>

#include "pattern.hpp"
#include "pattern_hash.hpp"
#include "variants_test.hpp"

namespace hbf::kernels {
namespace {

using testing::Guarded;

uint32_t word_at(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, 4);
    return word;
}

TEST(PatternHash, LeadsBackToTheAddress) {
    for (const uint32_t generation : {0u, 1u, 77u})
        for (const uint32_t high : {0u, 3u})
            for (const bool complement : {false, true}) {
                const auto window = pattern_window({5, generation, complement}, high);
                for (const uint32_t low : {0u, 1u, 4711u, 0x7FFFFFFFu, 0x80000001u, 0xFFFFFFFFu})
                    ASSERT_EQ(pattern_unhash(window, pattern_hash(window, low)), low) << generation << " " << high;
            }
}

class Pattern : public testing::EachVariant {};
HBF_FOR_EACH_VARIANT(Pattern);

TEST_P(Pattern, FillWritesTheWordsOfTheDefinitionAndNothingElse) {
    const Guarded memory(8192);
    for (size_t words = 0; words < 700; ++words) {
        const PatternKey key{static_cast<uint32_t>(words), 7, words % 2 == 1};
        const uint64_t address = 4 * (1000 + words * 3);
        uint8_t *const begin = memory.end() - 4 * words;
        memset(memory.begin(), 0x77, memory.size());
        pattern_fill(begin, 4 * words, key, address);
        for (size_t i = 0; i < words; ++i)
            ASSERT_EQ(word_at(begin + 4 * i), pattern_word(key, address + 4 * i)) << words << " " << i;
        for (const uint8_t *at = memory.begin(); at < begin; ++at) ASSERT_EQ(*at, 0x77);
        const PatternResult result = pattern_verify(begin, 4 * words, key, address);
        ASSERT_EQ(result.wrong_words, 0u) << words;
    }
}

TEST_P(Pattern, LargeFillsAreTheSameWords) {
    std::vector<uint8_t> bytes((3 << 20) + 64);
    const PatternKey key{1, 2, false};
    for (const size_t shift : {0u, 1u, 4u, 60u}) {
        std::fill(bytes.begin(), bytes.end(), uint8_t{0});
        pattern_fill(bytes.data() + shift, 3 << 20, key, 65536);
        for (size_t i = 0; i < (3 << 20); i += 4)
            ASSERT_EQ(word_at(bytes.data() + shift + i), pattern_word(key, 65536 + i)) << shift << " " << i;
        for (size_t i = 0; i < shift; ++i) ASSERT_EQ(bytes[i], 0);
        ASSERT_EQ(bytes[shift + (3 << 20)], 0);
    }
}

TEST_P(Pattern, CrossesSixteenGiBOfAddresses) {
    std::vector<uint8_t> bytes(4096);
    const PatternKey key{3, 4, false};
    const uint64_t address = (uint64_t{1} << 34) - 1024;
    pattern_fill(bytes.data(), bytes.size(), key, address);
    for (size_t i = 0; i < bytes.size(); i += 4) ASSERT_EQ(word_at(bytes.data() + i), pattern_word(key, address + i)) << i;
    bytes[2049] ^= 4;
    const PatternResult result = pattern_verify(bytes.data(), bytes.size(), key, address);
    EXPECT_EQ(result.wrong_words, 1u);
    EXPECT_EQ(result.first_offset, 2048u);
}

TEST_P(Pattern, FindsEachFlippedBitAndSaysWhere) {
    std::vector<uint8_t> bytes(4 * 531);
    const PatternKey key{9, 1, false};
    pattern_fill(bytes.data(), bytes.size(), key, 0);
    for (size_t word = 0; word < 531; ++word) {
        const unsigned bit = static_cast<unsigned>(word * 5 % 32);
        bytes[4 * word + bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
        const PatternResult result = pattern_verify(bytes.data(), bytes.size(), key, 0);
        ASSERT_EQ(result.wrong_words, 1u) << word;
        ASSERT_EQ(result.first_offset, 4 * word);
        ASSERT_EQ(result.expected, pattern_word(key, 4 * word));
        ASSERT_EQ(result.actual, result.expected ^ (1u << bit));
        bytes[4 * word + bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    }
}

TEST_P(Pattern, CountsEveryWrongWord) {
    std::vector<uint8_t> bytes(40000);
    const PatternKey key{9, 1, false};
    pattern_fill(bytes.data(), bytes.size(), key, 0);
    for (size_t word = 17; word < 10000; word += 97) bytes[4 * word] ^= 1;
    const PatternResult result = pattern_verify(bytes.data(), bytes.size(), key, 0);
    EXPECT_EQ(result.wrong_words, (10000u - 17 + 96) / 97);
    EXPECT_EQ(result.first_offset, 68u);
}

TEST_P(Pattern, StaleMisplacedForeignAndZeroBytesAreAllWrong) {
    std::vector<uint8_t> bytes(65536);
    const PatternKey key{21, 5, false};
    const auto wrong = [&](const PatternKey &written, uint64_t address) {
        pattern_fill(bytes.data(), bytes.size(), written, address);
        return pattern_verify(bytes.data(), bytes.size(), key, 1 << 20).wrong_words;
    };
    EXPECT_EQ(wrong(key, 1 << 20), 0u);
    EXPECT_GE(wrong({21, 4, false}, 1 << 20), 16380u); // stale
    EXPECT_GE(wrong({22, 5, false}, 1 << 20), 16380u); // another buffer's
    EXPECT_EQ(wrong({21, 5, true}, 1 << 20), 16384u);  // the complement
    EXPECT_GE(wrong(key, (1 << 20) + 4), 16380u);      // off by a word
    EXPECT_GE(wrong(key, (1 << 20) + 65536), 16380u);  // another granule
    EXPECT_GE(wrong(key, (uint64_t{1} << 34) + (1 << 20)), 16380u);
    std::fill(bytes.begin(), bytes.end(), uint8_t{0});
    EXPECT_GE(pattern_verify(bytes.data(), bytes.size(), key, 1 << 20).wrong_words, 16380u);
}

TEST(PatternWord, EveryWordOfAStretchIsDifferentAndBitsAreBalanced) {
    const PatternKey key{1, 1, false};
    std::unordered_set<uint32_t> seen;
    uint64_t ones[32] = {}, toggles[32] = {};
    constexpr uint32_t count = 1 << 18;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t word = pattern_word(key, uint64_t{i} * 4), next = pattern_word({1, 2, false}, uint64_t{i} * 4);
        EXPECT_TRUE(seen.insert(word).second);
        for (int bit = 0; bit < 32; ++bit) ones[bit] += word >> bit & 1, toggles[bit] += (word ^ next) >> bit & 1;
    }
    for (int bit = 0; bit < 32; ++bit) { // each near one half: 20 standard deviations
        EXPECT_NEAR(static_cast<double>(ones[bit]) / count, 0.5, 0.02) << bit;
        EXPECT_NEAR(static_cast<double>(toggles[bit]) / count, 0.5, 0.02) << bit;
    }
}

} // namespace
} // namespace hbf::kernels
