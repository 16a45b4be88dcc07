// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/row.hpp"

namespace hbf::bench {
namespace {

Row row_of(Bar kind, double bar, std::vector<double> ours, std::vector<double> theirs) {
    Row row;
    row.name = "a row";
    row.unit = "ns";
    row.reference = "plain";
    row.kind = kind;
    row.bar = bar;
    row.ours = std::move(ours);
    row.theirs = std::move(theirs);
    return row;
}

TEST(BenchRow, TheMedianOfThePairsMeetsTheBarOrNot) {
    EXPECT_TRUE(row_of(Bar::ratio_at_least, 0.97, {9.7, 1, 10}, {10, 10, 10}).holds());
    EXPECT_FALSE(row_of(Bar::ratio_at_least, 0.98, {9.7, 1, 10}, {10, 10, 10}).holds());
    EXPECT_TRUE(row_of(Bar::ratio_at_most, 1.25, {12, 99, 1}, {10, 10, 10}).holds());
    EXPECT_FALSE(row_of(Bar::ratio_at_most, 1.1, {12, 99, 1}, {10, 10, 10}).holds());
    EXPECT_TRUE(row_of(Bar::excess_at_most, 50, {60, 61, 62}, {12, 12, 12}).holds());
    EXPECT_FALSE(row_of(Bar::excess_at_most, 48, {60, 61, 62}, {12, 12, 12}).holds());
    EXPECT_TRUE(row_of(Bar::at_most, 0, {0, 0, 0}, {}).holds());
    EXPECT_FALSE(row_of(Bar::at_most, 0, {0, 1, 1}, {}).holds());
    EXPECT_TRUE(row_of(Bar::none, 0, {1}, {10}).holds());
    EXPECT_FALSE(row_of(Bar::none, 0, {}, {}).holds());
    EXPECT_NE(table_of({row_of(Bar::none, 0, {1}, {10})}).find("measured"), std::string::npos);
}

TEST(BenchRow, WhatWasNotMeasuredIsNoPass) {
    auto row = row_of(Bar::ratio_at_least, 0.5, {1}, {1});
    row.missing = "fio is not installed";
    EXPECT_FALSE(row.holds());
    EXPECT_FALSE(row_of(Bar::ratio_at_least, 0.5, {}, {}).holds());
    EXPECT_FALSE(row_of(Bar::at_most, 0.5, {}, {}).holds());
    EXPECT_NE(table_of({row}).find("not measured: fio is not installed"), std::string::npos);
}

TEST(BenchRow, TableAndJsonSayTheSame) {
    const std::vector<Row> rows{row_of(Bar::ratio_at_least, 0.97, {9, 9, 9}, {10, 10, 10}),
                                row_of(Bar::at_most, 5, {1, 2, 3}, {})};
    const auto table = table_of(rows);
    EXPECT_NE(table.find("0.900 (0.900..0.900)"), std::string::npos) << table;
    EXPECT_NE(table.find("below bar"), std::string::npos);
    const auto json = nlohmann::json::parse(json_of(rows));
    EXPECT_EQ(json["pass"], false);
    EXPECT_EQ(json["rows"][0]["pass"], false);
    EXPECT_EQ(json["rows"][1]["pass"], true);
    EXPECT_EQ(json["rows"][1]["compared_median"], 2.0);
    EXPECT_EQ(json["rows"][0]["ours"].size(), 3u);
}

TEST(Interleave, EachTurnBeginsWithAnother) {
    std::string order;
    Settings settings;
    settings.pairs = 3;
    auto figures = interleave(
        settings, {[&] { return order += 'a', 1.0; }, [&] { return order += 'b', 2.0; }, [&] { return order += 'c', 3.0; }});
    EXPECT_EQ(order, "abcbcacab");
    EXPECT_EQ(figures[1], (std::vector<double>{2, 2, 2}));
}

TEST(Settings, RowsAreChosenByPartsOfTheirNames) {
    Settings settings;
    EXPECT_TRUE(settings.wants("anything"));
    settings.only = {"granule", "probe"};
    EXPECT_TRUE(settings.wants("hbf probe, cold"));
    EXPECT_FALSE(settings.wants("queue copy"));
}

} // namespace
} // namespace hbf::bench
