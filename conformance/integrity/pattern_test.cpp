// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/integrity/pattern.hpp"

namespace hbf::integrity {
namespace {

std::vector<Datum> all_data(uint32_t generation = 5) {
    std::vector<Datum> out;
    for (const auto &one : patterns())
        for (uint32_t pass = 0; pass < one.passes; ++pass) out.push_back({one.pattern, pass, 77, generation});
    return out;
}

std::string name_of(const Datum &datum) {
    return std::string(info_of(datum.pattern).name) + " pass " + std::to_string(datum.pass);
}

TEST(Patterns, IdsAreStable) {
    const std::string_view frozen[] = {"address_hash",      "solid",       "checkerboard", "walking",
                                       "moving_inversions", "own_address", "modulo_20",    "random",
                                       "block_move",        "switching",   "bit_fade",     "witness"};
    ASSERT_EQ(patterns().size(), 12u);
    for (size_t i = 0; i < 12; ++i) {
        EXPECT_EQ(patterns()[i].id, "p" + std::to_string(i));
        EXPECT_EQ(patterns()[i].name, frozen[i]);
        EXPECT_EQ(pattern_from(patterns()[i].id), patterns()[i].pattern);
        EXPECT_EQ(pattern_from(patterns()[i].name), patterns()[i].pattern);
    }
    EXPECT_FALSE(pattern_from("p12"));
}

TEST(Patterns, AnyPieceIsThatOfTheWhole) {
    std::vector<std::byte> whole(20000), piece(20000);
    for (const auto &datum : all_data()) {
        generate(datum, whole.data(), whole.size(), 4096);
        for (uint64_t at = 0; at < whole.size(); at += word_size) {
            uint64_t word;
            std::memcpy(&word, whole.data() + at, sizeof word);
            ASSERT_EQ(word, word_of(datum, 4096 + at)) << name_of(datum) << " " << at;
        }
        for (const auto &[offset, size] :
             {std::pair<size_t, size_t>{0, 1}, {7, 1}, {7, 2}, {3, 8191}, {4095, 4098}, {13, 0}}) {
            std::fill(piece.begin(), piece.end(), std::byte{0x33});
            generate(datum, piece.data(), size, 4096 + offset);
            ASSERT_EQ(std::memcmp(piece.data(), whole.data() + offset, size), 0) << name_of(datum) << " " << offset;
            ASSERT_EQ(piece[size], std::byte{0x33}) << name_of(datum);
        }
    }
}

TEST(Patterns, EverySingleBitIsSeenWithItsPlace) {
    std::vector<std::byte> bytes(9001);
    for (const auto &datum : all_data()) {
        generate(datum, bytes.data(), bytes.size(), 4099);
        for (size_t bit = 0; bit < bytes.size() * 8; bit += 1009) {
            const auto flip = std::byte(1u << bit % 8);
            bytes[bit / 8] ^= flip;
            std::vector<WrongWord> found;
            const auto count = compare(datum, bytes.data(), bytes.size(), 4099, [&](const auto &w) { found.push_back(w); });
            bytes[bit / 8] ^= flip;
            if (!judged(datum, 4099 + bit / 8)) {
                ASSERT_EQ(count, 0u) << name_of(datum);
                continue;
            }
            ASSERT_EQ(count, 1u) << name_of(datum) << " bit " << bit;
            ASSERT_EQ(found.front().address, (4099 + bit / 8) / 8 * 8);
            ASSERT_EQ(found.front().expected, word_of(datum, found.front().address));
            ASSERT_EQ(std::popcount(found.front().expected ^ found.front().actual), 1);
        }
        ASSERT_EQ(compare(datum, bytes.data(), bytes.size(), 4099, [](const auto &) {}), 0u) << name_of(datum);
    }
}

TEST(Patterns, ModuloTwentyJudgesEachLineInTurn) {
    std::set<uint64_t> lines;
    for (uint32_t generation = 0; generation < modulo; ++generation) {
        unsigned judged_lines = 0;
        for (uint64_t line = 0; line < modulo; ++line) {
            if (!judged({Pattern::modulo_20, 0, 1, generation}, line * line_size + 63)) continue;
            ++judged_lines;
            lines.insert(line);
        }
        EXPECT_EQ(judged_lines, 1u);
    }
    EXPECT_EQ(lines.size(), modulo);
}

// The lanes of a stuck line: what each pattern shows of it, both polarities together.
TEST(Patterns, BothPolaritiesShowAnyStuckLane) {
    std::vector<std::byte> bytes(64 << 10), stuck;
    for (const Pattern pattern :
         {Pattern::address_hash, Pattern::solid, Pattern::checkerboard, Pattern::walking, Pattern::random}) {
        for (const bool one : {false, true}) {
            for (unsigned lane = 0; lane < 64; lane += 7) {
                uint64_t wrong = 0;
                for (uint32_t pass = 0; pass < info_of(pattern).passes; ++pass) {
                    const Datum datum{pattern, pass, 3, 1 + pass};
                    generate(datum, bytes.data(), bytes.size(), 0);
                    for (size_t at = 0; at < bytes.size(); at += 8) {
                        auto &byte = bytes[at + lane / 8];
                        const auto mask = std::byte(1u << lane % 8);
                        byte = one ? byte | mask : byte & ~mask;
                    }
                    wrong += compare(datum, bytes.data(), bytes.size(), 0, [](const auto &) {});
                }
                ASSERT_GT(wrong, 100u) << info_of(pattern).name << " lane " << lane << " stuck at " << one;
            }
        }
    }
}

TEST(Patterns, WalkingBitsReachEveryLaneOfTheBus) {
    for (const auto &[pass, width] : {std::pair<uint32_t, unsigned>{0, 64}, {2, 256}, {4, 512}}) {
        std::set<unsigned> lanes;
        for (uint64_t at = 0; at < 1 << 20; at += 8) {
            const auto word = word_of({Pattern::walking, pass, 0, 0}, at);
            ASSERT_LE(std::popcount(word), 1);
            if (word) lanes.insert(static_cast<unsigned>(at * 8 % width) + static_cast<unsigned>(std::countr_zero(word)));
        }
        EXPECT_EQ(lanes.size(), width) << pass;
    }
}

TEST(GranuleCrc, DiffersByIdGenerationAndLength) {
    std::vector<std::byte> bytes(65536);
    generate({Pattern::address_hash, 0, 1, 1}, bytes.data(), bytes.size(), 0);
    const auto crc = granule_crc(bytes.data(), bytes.size(), 7, 3);
    EXPECT_EQ(granule_crc(bytes.data(), bytes.size(), 7, 3), crc);
    EXPECT_NE(granule_crc(bytes.data(), bytes.size(), 8, 3), crc);
    EXPECT_NE(granule_crc(bytes.data(), bytes.size(), 7, 4), crc);
    EXPECT_NE(granule_crc(bytes.data(), bytes.size() - 1, 7, 3), crc);
}

} // namespace
} // namespace hbf::integrity
