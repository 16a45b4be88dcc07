// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "core/loader/rank.hpp"
#include "core/loader/reasons.hpp"
#include "core/loader/text.hpp"

namespace hbf::loader {
namespace {

TEST(Rank, VersionsCompareAsNumbers) {
    for (const auto &[lower, higher] :
         std::initializer_list<std::pair<const char *, const char *>>{{"1.9", "1.10"},
                                                                      {"1.9.9", "1.10"},
                                                                      {"0.1.0", "0.1.1"},
                                                                      {"1", "1.0"},
                                                                      {"1.0-rc1", "1.0"},
                                                                      {"1.0-rc1", "1.0-rc2"},
                                                                      {"1.0-rc9", "1.0-rc10"},
                                                                      {"", "1"},
                                                                      {"1.2", "1.2a"},
                                                                      {"9", "18446744073709551616"},
                                                                      {"99999999999999999999", "100000000000000000000"}}) {
        EXPECT_LT(compare_versions(lower, higher), 0) << lower << " " << higher;
        EXPECT_GT(compare_versions(higher, lower), 0) << lower << " " << higher;
    }
    EXPECT_EQ(compare_versions("1.02", "1.2"), 0);
    EXPECT_EQ(compare_versions("1.2+build5", "1.2"), 0);
}

TEST(Rank, EachMemberDecidesBeforeThoseAfterIt) {
    const RankKey base{5, true, 5, true, 0, "1.0", "m", 5};
    const auto changed = [&](auto change) {
        RankKey key = base;
        change(key);
        return key;
    };
    const RankKey order[] = {
        changed([](RankKey &k) {
            k.pin_index = 1;
            k.version = "0";
        }),
        changed([](RankKey &k) {
            k.emulated = false;
            k.allow_index = 9;
        }),
        changed([](RankKey &k) {
            k.allow_index = 1;
            k.priority = -9;
        }),
        changed([](RankKey &k) {
            k.on_cpu = false;
            k.priority = -9;
        }),
        changed([](RankKey &k) {
            k.priority = 10;
            k.version = "0";
        }),
        changed([](RankKey &k) {
            k.priority = 9;
            k.version = "0";
        }),
        changed([](RankKey &k) {
            k.version = "1.10";
            k.name = "z";
        }),
        changed([](RankKey &k) {
            k.name = "a";
            k.found_index = 9;
        }),
        changed([](RankKey &k) { k.found_index = 1; }),
        base,
    };
    for (size_t i = 0; i < std::size(order); ++i) {
        for (size_t j = 0; j < std::size(order); ++j) EXPECT_EQ(ranks_before(order[i], order[j]), i < j) << i << " " << j;
    }
}

TEST(Rank, TheOrderIsTotalWhateverTheStart) {
    std::vector<RankKey> keys;
    for (size_t i = 0; i < 40; ++i)
        keys.push_back({i % 2, i % 3 == 0, i % 2, i % 4 == 1, int(i % 4), i % 5 ? "1.0" : "1.1", i % 7 ? "a" : "b", i});
    std::mt19937 random(1);
    std::vector<size_t> first;
    for (int round = 0; round < 50; ++round) {
        std::shuffle(keys.begin(), keys.end(), random);
        std::sort(keys.begin(), keys.end(), ranks_before);
        std::vector<size_t> order;
        for (const RankKey &key : keys) order.push_back(key.found_index);
        if (round == 0) first = order;
        ASSERT_EQ(order, first);
    }
}

TEST(Reasons, WordsAreThereForAllAndLeadBack) {
    for (int i = 0; i <= static_cast<int>(Reason::duplicate_name); ++i) {
        const auto reason = static_cast<Reason>(i);
        EXPECT_EQ(reason_from(to_string(reason)), reason);
    }
    EXPECT_EQ(to_string(Reason::driver_stub), "driver_stub");
    EXPECT_EQ(to_string(Reason::duplicate_name), "duplicate_name");
    EXPECT_EQ(to_string(Stage::static_check), "static_check");
    EXPECT_EQ(reason_from("unknown"), std::nullopt);
}

TEST(Text, IsMadePrintable) {
    EXPECT_EQ(printable("plain \xc3\xa4 \xe2\x82\xac"), "plain \xc3\xa4 \xe2\x82\xac");
    EXPECT_EQ(printable("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
    EXPECT_EQ(printable("two\nlines\tand\rreturn"), "two lines and\\x0dreturn");
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\xc2\\x9b"
              "31m"); // a control sequence in one character
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
    EXPECT_EQ(printable("abcdef", 3), "abc...");
    EXPECT_EQ(printable("a\xe2\x80\xaetxt.\xe2\x81\xa6"), "a\\xe2\\x80\\xaetxt.\\xe2\\x81\\xa6") << "turned writing";
    EXPECT_EQ(printable("\xe2\x80\x93\xe2\x81\xaa"), "\xe2\x80\x93\xe2\x81\xaa") << "their neighbours are characters";
    EXPECT_EQ(printable_lines("one\n\x1b[2Jtwo\n\n"), "one\n\\x1b[2Jtwo\n\n");
    EXPECT_EQ(printable_lines(std::string(5000, 'x')).size(), 5000u);
    EXPECT_EQ(last_line("one\ntwo\n\n"), "two");
    EXPECT_EQ(last_line(" \n"), "");
    EXPECT_EQ(split("a, b,c", ','), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(split("", ','), std::vector<std::string>{});
    EXPECT_EQ(split("a,", ','), (std::vector<std::string>{"a", ""}));
}

} // namespace
} // namespace hbf::loader
