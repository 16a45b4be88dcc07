// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/host/parse.hpp"

using namespace hbf::host;

TEST(Parse, NumbersAreWholeOrNothing) {
    EXPECT_EQ(parse_unsigned("42"), 42u);
    EXPECT_EQ(parse_unsigned("0x10de"), 0x10deu);
    EXPECT_EQ(parse_unsigned("18446744073709551615"), UINT64_MAX);
    for (const char *bad : {"", "-1", "+1", " 1", "1 ", "1x", "0x", "0xg", "18446744073709551616", "1e3"}) {
        EXPECT_EQ(parse_unsigned(bad), std::nullopt) << bad;
    }
    EXPECT_EQ(parse_signed("-1"), -1);
    EXPECT_EQ(parse_signed("--1"), std::nullopt);
}

TEST(Parse, LinkSpeeds) {
    EXPECT_EQ(parse_link_speed("16.0 GT/s PCIe"), 16.0);
    EXPECT_EQ(parse_link_speed("2.5 GT/s"), 2.5);
    EXPECT_EQ(parse_link_speed("Unknown"), 0.0);
    for (const char *bad : {"", "16.0", "fast GT/s", "-8 GT/s", "1e9 GT/s", "nan GT/s"})
        EXPECT_EQ(parse_link_speed(bad), std::nullopt) << bad;
}

TEST(Parse, Lists) {
    EXPECT_EQ(parse_list("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
    EXPECT_EQ(parse_list(""), std::vector<int>{});
    for (const char *bad : {"a", "3-1", "0-", "-3", "0-99999999", "4,4", "0-4294967295", "1,0"})
        EXPECT_EQ(parse_list(bad), std::nullopt) << bad;
}

TEST(Parse, Meminfo) {
    const std::string_view text =
        "Node 0 MemTotal:  24683652 kB\nNode 0 MemFree: 7 kB\nNode 0 Huge: x kB\nOther: 18446744073709551615 kB\n";
    EXPECT_EQ(meminfo_bytes(text, "MemTotal"), uint64_t{24683652} * 1024);
    EXPECT_EQ(meminfo_bytes(text, "MemFree"), 7u * 1024);
    EXPECT_EQ(meminfo_bytes(text, "Mem"), std::nullopt);
    EXPECT_EQ(meminfo_bytes(text, "Huge"), std::nullopt);
    EXPECT_EQ(meminfo_bytes(text, "Other"), std::nullopt) << "bytes would overflow";
}

TEST(Parse, TextForms) {
    EXPECT_EQ(bracketed("always [madvise] never"), "madvise");
    EXPECT_EQ(bracketed("plain"), "plain");
    EXPECT_EQ(bracketed("] [x"), "] [x");
    EXPECT_EQ(trimmed(" \t a b\n"), "a b");
    EXPECT_EQ(printable("a\x1b[31mb\xff"), "a?[31mb?");
    EXPECT_EQ(words("  a  b ").size(), 2u);
}
