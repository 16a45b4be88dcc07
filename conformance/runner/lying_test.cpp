// SPDX-License-Identifier: Apache-2.0
// The runner against cases and plugins that mislead it: each is seen through, and nothing is left behind.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/runner/case_process.hpp"
#include "conformance/runner/run.hpp"
#include "core/common/orphans.hpp"

namespace hbf::conformance {
namespace {

struct Expected {
    const char *name;
    Status status;
    const char *reason; // a part of it
};

class RunnerTest : public testing::Test {
protected:
    RunnerTest() {
        how_.program = HBF_CASE_PROGRAM;
        arguments_.subject.plugin_file = HBF_SIM_PLUGIN;
        arguments_.seed = 7;
    }
    CaseRecord run(const std::string &name) {
        if (cases_.empty()) {
            const auto all = list_cases(how_);
            EXPECT_TRUE(all) << all.error();
            if (all) cases_ = *all;
        }
        for (const CaseEntry &entry : cases_) {
            if (entry.name != name) continue;
            const auto record = run_case_process(how_, entry, arguments_, "again");
            EXPECT_TRUE(record) << record.error();
            return record.value_or(CaseRecord{});
        }
        ADD_FAILURE() << "no case " << name;
        return {};
    }
    void expect(const Expected &due) {
        SCOPED_TRACE(due.name);
        const CaseRecord record = run(due.name);
        EXPECT_EQ(record.name, due.name);
        EXPECT_EQ(to_string(record.status), to_string(due.status)) << record.reason;
        EXPECT_NE(record.reason.find(due.reason), std::string::npos) << record.reason;
        EXPECT_EQ(record.replay, "again");
        EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process was left behind";
    }
    const double hangs = std::min(sanitizer_slows(), 2.0); // time enough to start and to hang, with a sanitizer too
    static std::vector<CaseEntry> cases_;
    CaseProcess how_;
    CaseArguments arguments_;
};
std::vector<CaseEntry> RunnerTest::cases_;

size_t open_descriptors() {
    size_t count = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

TEST_F(RunnerTest, WordsCountForNothing) {
    expect({"lying.says.nothing_and_is_honest", Status::pass, ""});
    expect({"lying.says.failed_but_all_checks_hold", Status::pass, ""});
    expect({"lying.says.failed_without_checking", Status::internal_error, "made no check"});
    expect({"lying.says.unsupported_then_fails", Status::fail, "it did fail"});
    expect({"lying.says.not_supported_without_a_need", Status::internal_error, "no capability that it needs"});
    expect({"lying.says.threw_a_standard_exception", Status::internal_error, "index 7 of 3"});
    expect({"lying.says.threw_a_number", Status::internal_error, "no exception"});
    expect({"lying.says.failed_in_a_thread_of_its_own", Status::crash, "SIGABRT"});
}

TEST_F(RunnerTest, WhatIsPrintedIsKept) {
    const CaseRecord record = run("lying.says.unsupported_then_fails");
    EXPECT_NE(record.log.find("UNSUPPORTED\nPASS\n"), std::string::npos) << record.log;
}

TEST_F(RunnerTest, AnEndIsJudgedByItself) {
    expect({"lying.ends.crashes", Status::crash, "ended by SIGSEGV"});
    expect({"lying.ends.crashes_after_passing", Status::crash, "SIGSEGV after its record said pass"});
    expect({"lying.ends.exit_1_after_passing", Status::internal_error, "record says pass, its exit status 1"});
    expect({"lying.ends.exit_0_after_failing", Status::internal_error, "record says fail, its exit status 0"});
    expect({"lying.ends.exit_0_without_record", Status::crash, "without a record"});
    expect({"lying.ends.kills_itself", Status::crash, "SIGKILL"});
}

TEST_F(RunnerTest, TheWatchdogEndsWhatHangs) {
    how_.slower = hangs; // or it is waited for in vain
    expect({"lying.ends.hangs", Status::timeout, "did not end within"});
    expect({"lying.ends.hangs_after_passing", Status::timeout, "its record said pass"});
    expect({"lying.ends.stops_itself", Status::timeout, "was stopped"});
}

TEST_F(RunnerTest, LeftoversAreFoundEndedAndReported) {
    expect({"lying.ends.leaves_a_child", Status::fail, "left 1 process behind"});
    expect({"lying.ends.leaves_a_daemon", Status::fail, "hbf-case (process "});
    const CaseRecord record = run("lying.ends.leaves_a_daemon");
    ASSERT_EQ(record.evidence.size(), 1u);
    EXPECT_EQ(record.evidence[0].fault_class, fault::leak);
}

TEST_F(RunnerTest, OnlyOneWholeRecordOfThisCaseCounts) {
    expect({"lying.writes.a_second_record", Status::internal_error, "more than one record"});
    expect({"lying.writes.a_record_of_another_case", Status::internal_error, "record is of dma.copy.other"});
    expect({"lying.writes.half_a_record", Status::internal_error, "cut off"});
    expect({"lying.writes.a_status_that_is_none", Status::internal_error, "does not hold"});
    expect({"lying.writes.a_verdict_of_the_runner", Status::internal_error, "which no case may"});
}

TEST_F(RunnerTest, OutputIsBounded) {
    expect({"lying.writes.without_end", Status::fail, "printed more than 4 MiB and was stopped"});
    const CaseRecord much = run("lying.writes.much_but_not_too_much");
    EXPECT_EQ(much.status, Status::pass) << much.reason;
    EXPECT_LE(much.log.size(), 2 * how_.output_kept + 100);
    EXPECT_NE(much.log.find("bytes printed are left out"), std::string::npos) << much.log.substr(0, 100);
}

TEST_F(RunnerTest, TheRecordSurvivesACarelessPluginAndMissesNoDeliberateOne) {
    expect({"lying.writes.after_closing_the_first_64", Status::pass, ""});
    expect({"lying.writes.after_closing_all", Status::crash, "closed what it did not open"});
}

TEST_F(RunnerTest, NoDescriptorIsLost) {
    how_.slower = hangs;
    run("lying.says.nothing_and_is_honest");
    const size_t before = open_descriptors();
    for (const char *name :
         {"lying.ends.crashes", "lying.ends.hangs", "lying.writes.without_end", "lying.ends.leaves_a_daemon"})
        run(name);
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(RunnerTest, AnInterruptionStopsTheCaseAtOnce) {
    how_.interrupted = [] { return 2; };
    const CaseRecord record = run("lying.ends.hangs");
    EXPECT_EQ(record.status, Status::interrupted);
    EXPECT_NE(record.reason.find("SIGINT"), std::string::npos) << record.reason;
    EXPECT_LT(record.duration_s, 1);
}

TEST_F(RunnerTest, ADeviceThatCompletesNothingEndsTheRun) {
    RunOptions options;
    options.case_program = how_.program;
    options.target.plugin_file = arguments_.subject.plugin_file;
    options.filter.take = {"lying.waits.a", "lying.waits.b", "lying.waits.c", "lying.waits.d"};
    options.self_test = false;
    auto run = run_suite(options);
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_EQ(run->cases.size(), 4u);
    EXPECT_EQ(run->cases[2].reason, "value 1 did not complete");
    EXPECT_EQ(run->cases[3].status, Status::not_run);
    EXPECT_EQ(run->verdict, "not conformant");
    EXPECT_NE(run->verdict_reason.find("1 case not run: 3 cases waited"), std::string::npos) << run->verdict_reason;

    options.keep_going = true;
    run = run_suite(options);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->cases.back().status, Status::fail) << run->cases.back().reason;
}

TEST_F(RunnerTest, AProgramThatIsNotThereIsAnError) {
    how_.program = "/does/not/exist";
    const auto record = run_case_process(how_, {.name = "a.b"}, arguments_, "");
    ASSERT_FALSE(record);
    EXPECT_NE(record.error().find("/does/not/exist"), std::string::npos);
}

// A plugin that works but for one deed.
class HostileTest : public RunnerTest {
protected:
    HostileTest() {
        arguments_.subject.plugin_file = HBF_HOSTILE_PLUGIN;
        setenv("HBF_HOSTILE_REAL", HBF_SIM_PLUGIN, 1);
    }
    ~HostileTest() override { unsetenv("HBF_HOSTILE_DEED"); }
    void expect_deed(const char *deed, Status status, const char *reason) {
        setenv("HBF_HOSTILE_DEED", deed, 1);
        SCOPED_TRACE(deed);
        expect({"dma.copy.guard_bytes_untouched", status, reason});
    }
};

TEST_F(HostileTest, EachDeedIsSeen) {
    expect_deed("none", Status::pass, "");
    expect_deed("kills_its_process", Status::crash, "ended by SIGKILL");
    expect_deed("exits_0", Status::crash, "exited with status 0 and without a record");
    expect_deed("leaves_a_child", Status::fail, "left 1 process behind");
    expect_deed("leaves_a_daemon", Status::fail, "left 1 process behind");
    expect_deed("closes_all_files", Status::crash, "closed what it did not open");
    expect_deed("closes_the_standard_streams", Status::pass, "");
    expect_deed("floods_stdout", Status::fail, "printed more than");
    expect_deed("moves_away", Status::pass, "");
    expect_deed("ignores_all_signals", Status::pass, "");
}

TEST_F(HostileTest, TheEnvironmentIsThisProcessesButForChanges) {
    const std::string long_value(5000, 'x'); // not where a short string would still be found by luck
    setenv("HBF_HOSTILE_DEED", "none", 1);
    how_.environment = {"HBF_TEST_OTHER=" + long_value, "HBF_HOSTILE_DEED=kills_its_process"};
    EXPECT_EQ(run("dma.copy.guard_bytes_untouched").status, Status::crash);
    how_.environment = {"HBF_TEST_OTHER=" + long_value};
    EXPECT_EQ(run("dma.copy.guard_bytes_untouched").status, Status::pass) << "what is not changed is kept";
}

TEST_F(HostileTest, AFloodOfTheLogIsKeptWithinBounds) {
    setenv("HBF_HOSTILE_DEED", "floods_the_log", 1);
    const CaseRecord record = run("dma.copy.guard_bytes_untouched");
    EXPECT_EQ(record.status, Status::pass) << record.reason;
    EXPECT_LT(record.log.size(), 256u << 10);
    EXPECT_NE(record.log.find("more lines of the plugin's log are left out"), std::string::npos);
}

} // namespace
} // namespace hbf::conformance
