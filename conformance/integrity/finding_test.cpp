// SPDX-License-Identifier: Apache-2.0
// What wrong data tells: bounds, lanes, origins and the line at the end, each for planted faults.
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/integrity/bound.hpp"
#include "conformance/integrity/present.hpp"
#include "conformance/integrity/tally.hpp"

namespace hbf::integrity {
namespace {

namespace fault = conformance::fault;

TEST(Bound, ExactPoissonValues) { // Garwood 1936; the first two by hand
    EXPECT_NEAR(poisson_upper(0, 0.95), 2.9957, 1e-4);
    EXPECT_NEAR(poisson_upper(0, 0.999), 6.9078, 1e-4);
    EXPECT_NEAR(poisson_upper(1, 0.95), 4.7439, 1e-4);
    EXPECT_NEAR(poisson_upper(1, 0.999), 9.2334, 1e-4);
    EXPECT_NEAR(poisson_upper(2, 0.95), 6.2958, 1e-4);
    EXPECT_NEAR(poisson_upper(2, 0.999), 11.2289, 1e-4);
    EXPECT_NEAR(poisson_upper(3, 0.95), 7.7537, 1e-4);
    EXPECT_NEAR(poisson_upper(3, 0.999), 13.0622, 1e-4);
    EXPECT_NEAR(poisson_upper(10, 0.95), 16.9622, 1e-4);
}

TEST(Bound, HoldsForManyErrorsToo) {
    for (const uint64_t k : {100u, 10000u, 1000000u, 100000000u}) {
        const double upper = poisson_upper(k, 0.95), normal = static_cast<double>(k) + 1.645 * std::sqrt(k) + 1.57;
        EXPECT_NEAR(upper / normal, 1, 0.01) << k;
    }
}

TEST(Bound, BitsAndText) {
    EXPECT_NEAR(bits_needed(0.999, 1e-13), 6.9078e13, 1e9);
    EXPECT_EQ(bound_text(0, 1.2e13), "0 errors in 1.2e+13 bits: rate < 2.5e-13 per bit at 95 %, < 5.8e-13 at 99.9 %");
    EXPECT_EQ(bound_text(1, 1e9, 0.95), "1 error in 1e+09 bits: rate < 4.7e-09 at 95 %");
    EXPECT_EQ(bound_text(0, 0), "no bit compared: no bound");
}

TEST(Lanes, OneStuckLineIsNamedWithDirectionAndShare) {
    Lanes lanes;
    for (uint64_t at = 0; at < 1 << 16; at += 24) lanes.add(at, uint64_t{1} << 13, 0);
    lanes.add(8, 0, 2);
    EXPECT_EQ(lanes.verdict(1 << 16), "single lane 13 of 64, 1->0 only, 100 % => stuck data line");
    EXPECT_EQ(lanes.busiest(8).lane, 5u);
    EXPECT_EQ(lanes.busiest(64).lane, 13u);
    EXPECT_EQ(lanes.down(), lanes.words() - 1);
}

TEST(Lanes, OneOfFiveHundredAndTwelve) {
    Lanes lanes;
    for (uint64_t at = 16; at < 1 << 16; at += 64) lanes.add(at, 0, 4);
    EXPECT_EQ(lanes.verdict(1 << 16), "single lane 130 of 512, 0->1 only, 100 % => stuck data line");
    EXPECT_EQ(lanes.words_in_line()[2], lanes.words());
}

TEST(Lanes, AnAddressBitThatDecides) {
    Lanes lanes;
    uint64_t noise = 1;
    for (uint64_t at = 1 << 14; at < 1 << 20; at += 3 * 4096) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        if (at >> 14 & 1) lanes.add(at + (noise >> 40 & 0xff8), 0, noise | 1);
    }
    const auto bit = lanes.address_bit(1 << 20);
    ASSERT_TRUE(bit);
    EXPECT_EQ(bit->bit, 14u);
    EXPECT_TRUE(bit->value);
}

TEST(Lanes, ARunOfNeighboursHasNoAddressBit) {
    Lanes lanes;
    for (uint64_t at = 1 << 16; at < (1 << 16) + 4096; at += 8) lanes.add(at, 0, ~uint64_t{0});
    EXPECT_FALSE(lanes.address_bit(1 << 20));
}

TEST(Lanes, PagesBySize) {
    Lanes lanes;
    for (int i = 0; i < 3; ++i) lanes.add(5 * 4096 + 8, 0, 1);
    lanes.add(64 << 10, 0, 1);
    ASSERT_EQ(lanes.pages(4096).size(), 2u);
    EXPECT_EQ(lanes.pages(4096).front(), (std::pair<uint64_t, uint64_t>{5, 3}));
    EXPECT_EQ(lanes.pages(65536).size(), 2u);
    EXPECT_EQ(lanes.pages(2 << 20).front().second, 4u);
}

TEST(Rereads, TellReadFromStorage) {
    EXPECT_EQ(judge_rereads(1, 2, {2, 2, 2}), Reread::same);
    EXPECT_EQ(judge_rereads(1, 2, {1, 1, 1}), Reread::right);
    EXPECT_EQ(judge_rereads(1, 2, {2, 1, 2}), Reread::different);
    EXPECT_EQ(judge_rereads(1, 2, {3, 3, 3}), Reread::different);
}

// A line that holds `actual` data where `due` belongs.
Origin origin_in_line(const Datum &due, const Datum &actual, uint64_t at, uint64_t from, const Datum *before = nullptr,
                      const Datum *poison = nullptr) {
    std::array<std::byte, line_size> line;
    generate(actual, line.data(), line.size(), from);
    WrongWord word{at, word_of(due, at), 0};
    std::memcpy(&word.actual, line.data(), 8);
    return origin_of({due, before, 64 << 20, poison}, word, std::span<const std::byte>(line).subspan(8));
}

TEST(Origin, OfWholeLines) {
    const Datum due{Pattern::address_hash, 0, 9, 40};
    auto earlier = due, complement = due, poison = due;
    earlier.generation = 38;
    complement.pass = 1;
    poison.generation = 0, poison.pass = 1;
    auto origin = origin_in_line(due, earlier, 4096, 4096);
    EXPECT_EQ(origin.fault_class, fault::stale);
    EXPECT_EQ(origin.back, 2u);
    EXPECT_EQ(origin_in_line(due, complement, 4096, 4096).fault_class, fault::not_written);
    EXPECT_EQ(origin_in_line(due, poison, 4096, 4096, nullptr, &poison).fault_class, fault::not_written);
    origin = origin_in_line(due, due, 4096, 4096 + (2 << 20));
    EXPECT_EQ(origin.fault_class, fault::misplaced);
    EXPECT_EQ(origin.address, 4096u + (2 << 20));
    origin = origin_in_line(due, earlier, 4096, 65536);
    EXPECT_EQ(origin.fault_class, fault::misplaced);
    EXPECT_EQ(origin.back, 2u);
    EXPECT_EQ(origin_in_line(due, {Pattern::random, 0, 1, 1}, 4096, 4096).fault_class, fault::wrong_value);
}

TEST(Origin, HalfNewAndHalfOldIsTorn) {
    const Datum due{Pattern::address_hash, 0, 9, 40}, before{Pattern::address_hash, 1, 9, 39};
    for (const uint64_t old_half : {uint64_t{0xffffffff}, ~uint64_t{0xffffffff}}) {
        const uint64_t is = word_of(due, 64), was = word_of(before, 64);
        const auto origin = origin_of({due, &before, 4096}, {64, is, (is & ~old_half) | (was & old_half)}, {});
        EXPECT_EQ(origin.fault_class, fault::torn) << origin.text;
        EXPECT_EQ(origin.back, 1u);
    }
}

TEST(Origin, OfClassicPatternsIsWhatWasThereBefore) {
    const Datum due{Pattern::solid, 1, 9, 4}, before{Pattern::solid, 0, 9, 3};
    EXPECT_EQ(origin_in_line(due, before, 64, 64, &before).fault_class, fault::stale);
    const WrongWord flipped{64, ~uint64_t{0}, ~uint64_t{0} ^ 0x2000};
    EXPECT_EQ(origin_of({due, &before, 4096}, flipped, {}).text, "1 bit flipped (bit 13, 1->0)");
}

Tally tally_of(std::string_view fault_class, uint64_t found, uint64_t belongs) {
    Tally tally;
    tally.pairs.push_back({.from = "a", .to = "b", .region_bytes = 64 << 20, .capacity = 1 << 30});
    for (uint64_t i = 0; i < 8; ++i) {
        ErrorRecord record;
        record.offset = found + 8 * i;
        record.expected = 0x1111111111111111u * i;
        record.actual = record.expected ^ 0x0123456789abcdefu * (i + 1);
        record.origin.fault_class = fault_class;
        if (belongs != UINT64_MAX) record.origin.address = belongs + 8 * i;
        tally.lanes.add(record.offset, record.expected, record.actual);
        tally.add(record);
    }
    return tally;
}

TEST(Verdict, NamesTheLikeliestFault) {
    EXPECT_EQ(Tally().verdict(), "");
    EXPECT_NE(tally_of(fault::stale, 0, UINT64_MAX).verdict().find("a write was dropped (stale)"), std::string::npos);
    const auto misdirected = tally_of(fault::misplaced, 2 << 20, 0).verdict();
    EXPECT_NE(misdirected.find("misdirected, +0x200000 bytes"), std::string::npos) << misdirected;
    EXPECT_NE(misdirected.find("address bit 21"), std::string::npos) << misdirected;
}

TEST(Verdict, AStuckLaneRefinesTheEvidence) {
    Tally tally;
    for (uint64_t at = 0; at < 80; at += 8) {
        ErrorRecord record;
        record.offset = at;
        record.expected = uint64_t{1} << 13;
        record.origin.fault_class = fault::bit_flip;
        tally.lanes.add(at, record.expected, 0);
        tally.wrong_bytes += wrong_bytes_in(record.expected, 0);
        tally.add(record);
    }
    const auto evidence = evidence_of(tally, 3);
    ASSERT_EQ(evidence.size(), 3u);
    EXPECT_EQ(evidence.front().fault_class, fault::stuck_lane);
    EXPECT_EQ(evidence.front().wrong_bytes, 10u);
    const auto series = series_of(tally);
    ASSERT_EQ(series.size(), 4u);
    EXPECT_TRUE(series[1].points.at(13).marked);
    EXPECT_EQ(series[1].points.at(13).y, 10);
}

} // namespace
} // namespace hbf::integrity
