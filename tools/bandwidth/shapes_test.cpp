// SPDX-License-Identifier: Apache-2.0
// The rows that are measured on request: sweep, both ways at once, latency, pages, NUMA nodes.
#include <algorithm>

#include <gtest/gtest.h>

#include "tools/bandwidth/fake_machine.hpp"
#include "tools/bandwidth/report.hpp"
#include "tools/bandwidth/run.hpp"
#include "tools/bandwidth/sweep.hpp"

namespace hbf::tools::bandwidth {
namespace {

Options quick() {
    Options options;
    options.tiers = {"dram0"};
    options.size = 1 << 20;
    options.op_size = 1 << 16;
    options.samples = 6;
    options.seconds = 300;
    options.seed = 42;
    options.warm_up = 0.001;
    return options;
}

bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

TEST(Sweep, HasEverySizeTheGranuleFirst) {
    const auto rows = sweep_of({}, false, UINT64_MAX);
    EXPECT_EQ(rows[0].op_size, 64u << 10);
    EXPECT_EQ(rows[1].op_size, 2u << 20);
    std::vector<uint64_t> sizes;
    for (const auto &row : rows) {
        if (row.what.ends_with("B a copy")) sizes.push_back(row.op_size);
    }
    std::sort(sizes.begin(), sizes.end());
    ASSERT_EQ(sizes.size(), 19u);
    for (size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(sizes[i], uint64_t{4096} << i);
    EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](const RowSpec &row) { return row.depth > 0; }), 4);
    EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](const RowSpec &r) { return r.order != measure::Order::in_place; }),
              2);
    for (const auto &row : sweep_of({}, false, 1 << 20)) EXPECT_LE(row.op_size, 1u << 20);
}

TEST(Sweep, IsMeasuredAndVerified) {
    FakeMachine machine;
    auto rows = sweep_of({}, false, 1 << 20);
    std::erase_if(rows, [](const RowSpec &row) { return row.what.ends_with("KiB a copy") && row.op_size != 4096; });
    auto options = quick();
    auto run = measure_rows(machine, rows, options, {});
    for (const auto &row : run.rows) {
        EXPECT_EQ(row.status, Status::pass) << row.spec.what << row.reason;
        EXPECT_EQ(row.samples.size(), 6u) << row.spec.what;
        if (row.spec.op_size != 0) {
            EXPECT_EQ(row.op_size, row.spec.op_size);
        }
        if (row.spec.depth != 0) {
            EXPECT_EQ(row.batch_ops, 1u);
        }
        if (row.spec.bytes != 0) {
            EXPECT_EQ(row.bytes, 64u << 10);
        }
    }
    const auto text = report_text(run, machine, options);
    options.samples = 1;
    for (const char *part : {"64 KiB a copy, queue depth 16", "16 x 64 KiB, gathered", "one contiguous copy", "cache-hot"})
        EXPECT_TRUE(has(text, part)) << part << text;
    machine.target.lie = measure::Lie::flip_bit;
    for (const auto &row : measure_rows(machine, rows, options, {}).rows) {
        if (row.bytes == (64 << 10)) continue; // the bit is in the fourth granule
        EXPECT_EQ(row.status, Status::fail) << row.spec.what;
    }
}

TEST(Sweep, SaysWhatWasLeftOut) {
    FakeMachine machine;
    auto options = quick();
    std::vector<RowSpec> rows{RowSpec{}, RowSpec{.what = "2 MiB a copy", .op_size = 2 << 20}};
    auto run = measure_rows(machine, rows, options, {});
    EXPECT_EQ(run.rows[1].status, Status::skipped);
    EXPECT_TRUE(has(run.rows[1].reason, "left out: the buffers have 1 MiB")) << run.rows[1].reason;
    EXPECT_EQ(verdict(run), Exit::pass);
    rows[1].op_size = 64 << 10;
    options.seconds = 1e-6;
    run = measure_rows(machine, rows, options, {});
    EXPECT_FALSE(has(run.rows[0].reason, "left out")); // the tier's own row never is
    EXPECT_TRUE(has(run.rows[1].reason, "--time")) << run.rows[1].reason;
}

TEST(BothWays, AreThreeNumbersForEachPair) {
    FakeMachine machine;
    auto options = quick();
    options.tiers = {"dram0", "storage0"};
    options.bidirectional = true;
    auto rows = choose_rows(machine, options);
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 3u);
    auto run = measure_rows(machine, *rows, options, {});
    for (const auto &row : run.rows) {
        EXPECT_EQ(row.status, Status::pass) << row.reason;
        EXPECT_EQ(row.samples.size(), 6u);
    }
    for (size_t i = 0; i < 6; ++i) { // one time for both: the sum is at most the sum of the parts
        EXPECT_LE(run.rows[2].gbs[i], (run.rows[0].gbs[i] + run.rows[1].gbs[i]) * 1.001);
    }
    const auto text = report_text(run, machine, options);
    EXPECT_TRUE(has(text, "<->")) << text;
    EXPECT_TRUE(has(text, "sum of both directions")) << text;
    options.tiers = {"dram0"};
    EXPECT_TRUE(choose_rows(machine, options)->empty()); // one tier has no two directions
}

TEST(BothWays, WrongDataOneWaySpoilsTheSum) {
    FakeMachine machine;
    machine.other_lane.lie = measure::Lie::flip_bit;
    auto options = quick();
    options.tiers = {"dram0", "hbf0"};
    options.bidirectional = true;
    auto run = measure_rows(machine, *choose_rows(machine, options), options, {});
    EXPECT_EQ(run.rows[0].status, Status::pass) << run.rows[0].reason;
    EXPECT_EQ(run.rows[1].status, Status::fail);
    EXPECT_EQ(run.rows[2].status, Status::fail);
    EXPECT_TRUE(has(run.rows[2].reason, "data_loss")) << run.rows[2].reason;
}

TEST(LatencyRows, ColdHotAndOffered) {
    FakeMachine machine;
    auto options = quick();
    options.latency = true;
    auto run = measure_rows(machine, {RowSpec{}}, options, {});
    ASSERT_EQ(run.rows[0].status, Status::pass) << run.rows[0].reason;
    ASSERT_EQ(run.rows[0].latencies.size(), 5u);
    const auto &series = run.rows[0].latencies;
    EXPECT_EQ(series[1].name, "hot, closed loop");
    EXPECT_GT(series[1].latency.total.count(), 16u); // the same granule again and again
    EXPECT_NEAR(series[2].offered / series[4].offered, 50.0 / 95, 1e-6);
    const auto text = report_text(run, machine, options);
    for (const char *part : {"cold, open loop at 80 %", "offered", "visible to the reader", "p99.9", "a second"})
        EXPECT_TRUE(has(text, part)) << part << text;
}

TEST(PagesAskedFor, ReachTheTierAndAreShown) {
    FakeMachine machine;
    auto options = quick();
    options.pages = "2m";
    auto run = measure_rows(machine, {RowSpec{}}, options, {});
    EXPECT_EQ(machine.asked, (std::vector<Pages>{Pages::p2m, Pages::p2m}));
    EXPECT_TRUE(has(report_text(run, machine, options), "pages asked for: 2m; got, as the kernel says: source 4 KiB"));
    options.pages = "1g"; // there are none: nothing to test, never smaller ones
    run = measure_rows(machine, {RowSpec{}}, options, {});
    EXPECT_EQ(verdict(run), Exit::untested);
    EXPECT_TRUE(has(run.rows[0].reason, "1 GiB pages")) << run.rows[0].reason;
}

TEST(PagesAskedFor, AreNotAskedOfStorage) {
    FakeMachine machine;
    auto options = quick();
    options.tiers = {"storage0"};
    options.pages = "4k";
    auto run = measure_rows(machine, *choose_rows(machine, options), options, {});
    EXPECT_EQ(verdict(run), Exit::pass) << run.rows[0].reason;
    EXPECT_EQ(std::count(machine.asked.begin(), machine.asked.end(), Pages::p4k), 2); // memory, source and destination
    EXPECT_GE(std::count(machine.asked.begin(), machine.asked.end(), Pages::best), 2);
}

TEST(NumaAll, IsEveryNodeWithCpusToEveryTier) {
    FakeMachine machine;
    machine.inventory_.nodes.resize(3);
    for (int i : {0, 1, 2}) machine.inventory_.nodes[static_cast<size_t>(i)].id = i;
    machine.inventory_.nodes[0].cpus = {0};
    machine.inventory_.nodes[2].cpus = {1};
    const auto rows = executor_rows(machine, {RowSpec{0, 0}, RowSpec{1, 1}});
    ASSERT_EQ(rows.size(), 4u); // node 1 has no CPU to execute on
    EXPECT_EQ(rows[1].executor_node, 2);
    EXPECT_EQ(rows[1].what, "executor on node 2");
    auto run = measure_rows(machine, rows, quick(), {});
    EXPECT_EQ(verdict(run), Exit::pass) << run.rows[0].reason;
}

} // namespace
} // namespace hbf::tools::bandwidth
