// SPDX-License-Identifier: Apache-2.0
// Whole runs on a machine that is honest, or lies: what reaches the exit code and the closing line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tools/bandwidth/fake_machine.hpp"
#include "tools/bandwidth/report.hpp"
#include "tools/bandwidth/run.hpp"

namespace hbf::tools::bandwidth {
namespace {

Options quick() {
    Options options;
    options.size = 1 << 20;
    options.op_size = 1 << 16;
    options.samples = 6;
    options.seconds = 30;
    options.seed = 42;
    options.warm_up = 0.001;
    return options;
}

Run measure(FakeMachine &machine, const Options &options, const RunHooks &hooks = {}) {
    auto rows = choose_rows(machine, options);
    EXPECT_TRUE(rows) << rows.error();
    return measure_rows(machine, *rows, options, hooks);
}

TEST(Run, AnHonestMachineMeasuresEveryTier) {
    FakeMachine machine;
    auto run = measure(machine, quick());
    ASSERT_EQ(run.rows.size(), 4u); // two memories, storage written and read
    for (const auto &row : run.rows) {
        EXPECT_EQ(row.status, Status::pass) << row.src << row.dst << row.reason;
        EXPECT_EQ(row.samples.size(), 6u);
        EXPECT_TRUE(row.queue.ci95);
        EXPECT_GT(row.queue.median, 0);
        EXPECT_EQ(row.one_thread.has_value(), !row.storage);
        EXPECT_FALSE(row.emulated);
        ASSERT_EQ(row.latencies.size(), 1u);
        EXPECT_EQ(row.latencies[0].latency.total.count(), 16u);
    }
    EXPECT_TRUE(run.rows[0].cache_hot);                // 1 MiB a buffer
    EXPECT_EQ(run.rows[2].page_cache, PageCache::hot); // the fake's storage is memory: nothing reached a device
    EXPECT_EQ(verdict(run), Exit::pass);
    EXPECT_EQ(closing_line(run).find("Measured bandwidth: "), 0u) << closing_line(run);
    EXPECT_EQ(machine.allocated, 0); // everything was given back
}

class LyingRun : public testing::TestWithParam<measure::Lie> {};

TEST_P(LyingRun, FailsAndShowsNoBandwidth) {
    FakeMachine machine;
    machine.target.lie = GetParam();
    machine.target.lie_from = 400; // warm-up was honest
    auto run = measure(machine, quick());
    EXPECT_EQ(verdict(run), Exit::fail);
    EXPECT_EQ(closing_line(run).find("FAIL: "), 0u) << closing_line(run);
    const auto text = report_text(run, machine, quick());
    EXPECT_NE(text.find("data_loss"), std::string::npos) << text;
    EXPECT_EQ(text.find("Measured bandwidth"), std::string::npos) << text;
    for (const auto &row : run.rows) {
        if (row.status != Status::fail) continue;
        const auto name = fmt::format("{} -> {} -> {}", row.src, row.executor, row.dst);
        EXPECT_NE(text.find("FAIL  " + name + "\n"), std::string::npos) << "a figure beside a failed transfer: " << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Each, LyingRun,
                         testing::Values(measure::Lie::drop_write, measure::Lie::drop_granule, measure::Lie::flip_bit,
                                         measure::Lie::stale, measure::Lie::misplace, measure::Lie::lose));

// The data is right, the figure is not: a device that says it is done before it has moved anything.
TEST(Run, AnImpossibleFigureFailsTheTestItself) {
    FakeMachine machine;
    machine.slack = 1;
    machine.target.early = true;
    auto options = quick();
    options.tiers = {"hbm"};
    options.depth = 64;
    options.size = 4 << 20;
    machine.target.delay =
        std::chrono::microseconds(50); // a pass is long enough for a sample, so that the gate holds it all
    auto run = measure(machine, options);
    ASSERT_EQ(run.rows.size(), 1u);
    EXPECT_EQ(run.rows[0].status, Status::fail);
    EXPECT_NE(run.rows[0].reason.find("impossible figure"), std::string::npos) << run.rows[0].reason;
    EXPECT_EQ(verdict(run), Exit::fail);
}

TEST(Run, ADeviceThatGoesAwayIsAnErrorNotAFailure) {
    FakeMachine machine;
    machine.target.lie = measure::Lie::fail;
    auto run = measure(machine, quick());
    EXPECT_EQ(verdict(run), Exit::error);
    EXPECT_NE(closing_line(run).find("device_lost"), std::string::npos) << closing_line(run);
}

TEST(Run, ATierWithoutRoomIsSkippedAndAllSkippedIsUntested) {
    FakeMachine machine;
    machine.places_[1].tier.available = 1000;
    auto run = measure(machine, quick());
    EXPECT_EQ(run.rows[1].status, Status::skipped);
    EXPECT_NE(run.rows[1].reason.find("hbf0"), std::string::npos);
    EXPECT_EQ(verdict(run), Exit::pass);
    auto options = quick();
    options.tiers = {"hbf0"};
    EXPECT_EQ(verdict(measure(machine, options)), Exit::untested);
}

TEST(Run, AnInterruptionKeepsWhatWasMeasured) {
    FakeMachine machine;
    int rounds = 0;
    bool stop = false;
    RunHooks hooks;
    hooks.stop = [&] { return stop; };
    hooks.progress = [&](const std::string &text) { stop = stop || (text.starts_with("sample") && ++rounds == 4); };
    auto run = measure(machine, quick(), hooks);
    EXPECT_TRUE(run.interrupted);
    EXPECT_EQ(run.rows[0].samples.size(), 3u);
    EXPECT_FALSE(run.rows[0].queue.ci95);
    EXPECT_TRUE(run.rows[0].interrupted);
    const auto line = closing_line(run);
    EXPECT_NE(line.find("(interrupted)"), std::string::npos) << line;
    EXPECT_EQ(line.find("±"), std::string::npos) << line; // three samples have no interval
}

TEST(Run, AnInterruptionBeforeAnySampleHasNoFigure) {
    FakeMachine machine;
    RunHooks hooks;
    hooks.stop = [] { return true; };
    auto run = measure(machine, quick(), hooks);
    EXPECT_TRUE(run.interrupted);
    EXPECT_EQ(verdict(run), Exit::error);
    EXPECT_EQ(closing_line(run).find("No bandwidth: "), 0u) << closing_line(run);
}

TEST(Rows, TiersByNameKindAndMatrix) {
    FakeMachine machine;
    Options options;
    EXPECT_EQ(choose_rows(machine, options)->size(), 4u);
    options.tiers = {"dram0"};
    EXPECT_EQ(*choose_rows(machine, options), (std::vector<RowSpec>{{0, 0}}));
    options.tiers = {"cold"};
    EXPECT_EQ(*choose_rows(machine, options), (std::vector<RowSpec>{{0, 2}, {2, 0}}));
    options.tiers = {};
    options.matrix = true;
    EXPECT_EQ(choose_rows(machine, options)->size(), 9u);
    options.tiers = {"dram0", "hbf"};
    EXPECT_EQ(choose_rows(machine, options)->size(), 4u);
}

TEST(Rows, TheMatrixHasARowForEachKernelThatReachesBothTiers) {
    FakeMachine machine;
    Options options;
    options.matrix = true;
    machine.known_kernels = {"crc32c/1", "copy/1", "triad/1", "pattern_verify/1"};
    const auto rows = *choose_rows(machine, options);
    EXPECT_EQ(rows.size(), 9u + 4 * 2 + 2) << "not into or out of storage; what reads only has no second tier";
    EXPECT_EQ(rows[0], (RowSpec{0, 0}));
    EXPECT_EQ(rows[1].work, measure::Work::kernel_copy);
    EXPECT_EQ(rows[2].work, measure::Work::kernel_triad);
    machine.known_kernels = {"copy/1"};
    EXPECT_EQ(choose_rows(machine, options)->size(), 9u + 4);
    options.matrix = false;
    EXPECT_EQ(choose_rows(machine, options)->size(), 4u) << "beside the tiers' own rows there are none";
}

TEST(Rows, OfKernelsAreNamedMeasuredAndVerifiedAsTheOthers) {
    FakeMachine machine;
    machine.places_.resize(1);
    machine.known_kernels = {"copy/1", "triad/1", "pattern_verify/1"};
    Options options = quick();
    options.matrix = true;
    auto run = measure_rows(machine, *choose_rows(machine, options), options, {});
    ASSERT_EQ(run.rows.size(), 4u);
    EXPECT_EQ(run.rows[0].executor, "fake queue");
    EXPECT_EQ(run.rows[1].executor, "host kernel copy/1");
    EXPECT_EQ(run.rows[2].executor, "host kernel triad/1");
    EXPECT_EQ(run.rows[3].executor, "host kernel pattern_verify/1");
    EXPECT_NE(transfer_name(run.rows[2]).find("reads two streams, writes one"), std::string::npos);
    for (const auto &row : run.rows) EXPECT_EQ(row.status, Status::pass) << row.reason;
    EXPECT_FALSE(run.rows[0].latencies.empty());
    EXPECT_TRUE(run.rows[1].latencies.empty()) << "a latency is of the queue's copies";

    machine.target.lie = measure::Lie::flip_bit;
    run = measure_rows(machine, *choose_rows(machine, options), options, {});
    for (const auto &row : run.rows) EXPECT_EQ(row.status, Status::fail) << row.executor;

    machine.target.lie = measure::Lie::drop_write;
    run = measure_rows(machine, *choose_rows(machine, options), options, {});
    EXPECT_EQ(run.rows[1].status, Status::fail);
    EXPECT_EQ(run.rows[3].status, Status::error) << "what was not looked at is not right";
}

TEST(Rows, UnknownNamesAreErrorsWithASuggestion) {
    FakeMachine machine;
    Options options;
    options.tiers = {"drm0"};
    auto rows = choose_rows(machine, options);
    ASSERT_FALSE(rows);
    EXPECT_NE(rows.error().find("unknown tier 'drm0'"), std::string::npos);
    EXPECT_NE(rows.error().find("dram0"), std::string::npos);
    options = {};
    options.device = "hots";
    EXPECT_NE(choose_rows(machine, options).error().find("unknown device 'hots'"), std::string::npos);
    // A kind is known everywhere; a host may have no tier of it.
    machine.places_.resize(1);
    options = {};
    options.tiers = {"cold"};
    ASSERT_TRUE(choose_rows(machine, options));
    EXPECT_TRUE(choose_rows(machine, options)->empty());
}

} // namespace
} // namespace hbf::tools::bandwidth
