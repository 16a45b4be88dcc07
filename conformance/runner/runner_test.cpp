// SPDX-License-Identifier: Apache-2.0
// What the runner decides, apart from processes: records, filters, waivers, verdicts.
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/runner/case_arguments.hpp"
#include "conformance/runner/case_end.hpp"
#include "conformance/runner/decide.hpp"
#include "conformance/runner/filter.hpp"
#include "conformance/runner/host_facts.hpp"
#include "conformance/runner/private_cache.hpp"
#include "conformance/runner/record_channel.hpp"
#include "conformance/runner/record_json.hpp"
#include "conformance/runner/run.hpp"
#include "conformance/runner/seed.hpp"

namespace hbf::conformance {
namespace {

using testing::ElementsAre, testing::HasSubstr;

CaseRecord passed(const char *name = "dma.copy.a") {
    CaseRecord record;
    record.name = name;
    record.status = Status::pass;
    record.checks = 3;
    record.seed = 0xfedcba9876543210u;
    return record;
}

CaseEnd ended(const CaseRecord &record, int exit_status = 0) {
    CaseEnd end;
    end.received = framed(to_json(record).line());
    end.status = exit_status << 8;
    end.seconds = 0.5;
    end.output_limit = 4u << 20;
    return end;
}

CaseRecord judged(const CaseEnd &end) {
    CaseRecord expected;
    expected.name = "dma.copy.a";
    expected.seed = 0xfedcba9876543210u;
    expected.rules = {"HBF-DMA-1"};
    return judge_end(expected, end);
}

TEST(CaseEnd, AWholeRecordThatAgreesIsBelieved) {
    CaseRecord said = passed();
    said.duration_s = 0.2;
    said.rules = {"HBF-NONE-1"};
    const CaseRecord record = judged(ended(said));
    EXPECT_EQ(record.status, Status::pass) << record.reason;
    EXPECT_THAT(record.rules, ElementsAre("HBF-DMA-1")) << "rules are the suite's, not the process's";
    EXPECT_NEAR(record.overhead_s, 0.3, 1e-9);
}

TEST(CaseEnd, StatusAndRecordMustAgree) {
    EXPECT_EQ(judged(ended(passed(), 1)).status, Status::internal_error);
    EXPECT_EQ(judged(ended(passed(), 77)).status, Status::internal_error);
    CaseRecord failed_one = passed();
    failed_one.status = Status::fail;
    EXPECT_EQ(judged(ended(failed_one, 1)).status, Status::fail);
    EXPECT_EQ(judged(ended(failed_one, 0)).status, Status::internal_error);
    CaseEnd signalled = ended(passed());
    signalled.status = SIGBUS;
    EXPECT_EQ(judged(signalled).status, Status::crash);
    EXPECT_THAT(judged(signalled).reason, HasSubstr("SIGBUS after its record said pass"));
    CaseEnd unknown = ended(passed());
    unknown.status.reset();
    EXPECT_EQ(judged(unknown).status, Status::internal_error);
}

TEST(CaseEnd, ARecordOfSomethingElseIsNotBelieved) {
    EXPECT_THAT(judged(ended(passed("dma.copy.b"))).reason, HasSubstr("the record is of dma.copy.b"));
    CaseRecord seed = passed(), mask = passed(), unchecked = passed();
    seed.seed = 1;
    mask.mask = "crc";
    unchecked.checks = 0;
    EXPECT_EQ(judged(ended(seed)).status, Status::internal_error);
    EXPECT_EQ(judged(ended(mask)).status, Status::internal_error);
    EXPECT_THAT(judged(ended(unchecked)).reason, HasSubstr("nothing was checked"));
    for (const Status status : {Status::waived, Status::xpass, Status::not_run, Status::timeout, Status::interrupted}) {
        CaseRecord other = passed();
        other.status = status;
        EXPECT_EQ(judged(ended(other, case_exit_status(status))).status, Status::internal_error) << to_string(status);
    }
}

TEST(CaseEnd, StoppedIsSaidBeforeAnythingElse) {
    CaseEnd end = ended(passed());
    end.flooded = true;
    EXPECT_EQ(judged(end).status, Status::fail);
    end = ended(passed());
    end.timed_out = true;
    EXPECT_EQ(judged(end).status, Status::timeout);
    end.interrupted = SIGTERM;
    EXPECT_EQ(judged(end).status, Status::interrupted);
    EXPECT_THAT(judged(end).reason, HasSubstr("SIGTERM"));
}

TEST(CaseEnd, LeftoversSpoilAPassAndAreNotedBesideAFailure) {
    CaseEnd end = ended(passed());
    end.orphans = {{123, "helper"}};
    EXPECT_EQ(judged(end).status, Status::fail);
    EXPECT_THAT(judged(end).reason, HasSubstr("helper (process 123)"));
    CaseRecord bad = passed();
    bad.status = Status::fail;
    bad.reason = "three bytes";
    end = ended(bad, 1);
    end.orphans = {{123, "helper"}};
    EXPECT_EQ(judged(end).reason, "three bytes");
    EXPECT_THAT(judged(end).notes, ElementsAre(HasSubstr("helper")));
}

TEST(RecordChannel, TakesOneWholeFrame) {
    EXPECT_EQ(unframed(framed("{}")).value_or(""), "{}");
    EXPECT_EQ(unframed("").error().kind, ChannelFault::empty);
    const std::string whole = framed(R"({"a":1})");
    for (size_t size = 1; size < whole.size(); ++size)
        EXPECT_EQ(unframed(whole.substr(0, size)).error().kind, ChannelFault::broken) << size;
    EXPECT_THAT(unframed(whole + whole).error().what, HasSubstr("more than one"));
    EXPECT_THAT(unframed(whole + "x").error().what, HasSubstr("bytes follow"));
    EXPECT_EQ(unframed("hello").error().kind, ChannelFault::broken);
    EXPECT_EQ(unframed("hbf-case-record 99999999999999999999\n{}\n").error().kind, ChannelFault::broken);
}

TEST(RecordJson, KeepsEveryBit) {
    CaseRecord record = passed();
    record.evidence = {
        {"stale", "dram0", 0xffffffffffffffffu, 1u << 20, 0x7fff12345678u, 1, 0x8000000000000001u, 8, 3, "d"}};
    record.metrics = {{"m", "B/s", 1.5, {1, 2, 0.1}, 1, 2}};
    record.series = {{"s", "lanes", "bit", "errors", {{"lane 3", 3, 4, true}}}};
    record.notes = {"line\n\"quoted\""};
    const auto back = case_record_from(*Json::parse(to_json(record).dump()));
    ASSERT_TRUE(back) << back.error();
    EXPECT_EQ(to_json(*back).dump(), to_json(record).dump());
    EXPECT_EQ(back->seed, record.seed);
    EXPECT_EQ(back->evidence[0].region, 0xffffffffffffffffu);
    EXPECT_EQ(back->evidence[0].actual, 0x8000000000000001u);
    EXPECT_EQ(back->metrics[0].samples[2], 0.1);
    RunRecord run;
    run.cases = {record};
    run.host = {{"z", "first"}, {"a", "second"}};
    run.health_before = {{"edac", 1ull << 60}};
    const auto run_back = run_record_from(*Json::parse(to_json(run).dump()));
    ASSERT_TRUE(run_back) << run_back.error();
    EXPECT_EQ(to_json(*run_back).dump(), to_json(run).dump());
    EXPECT_EQ(run_back->host.front().first, "z") << "facts keep their order";
}

TEST(RecordJson, WrongOnesAreNamed) {
    EXPECT_THAT(case_record_from(*Json::parse("{}")).error(), HasSubstr("name"));
    EXPECT_THAT(case_record_from(*Json::parse(R"({"name":"a","status":"passed"})")).error(), HasSubstr("status"));
    EXPECT_THAT(case_record_from(*Json::parse(R"({"name":"a","status":"pass","seed":7})")).error(), HasSubstr("seed"));
    EXPECT_THAT(case_record_from(*Json::parse(R"({"name":"a","status":"pass","checks":-1})")).error(), HasSubstr("checks"));
    EXPECT_THAT(run_record_from(*Json::parse(R"({"schema_version":99})")).error(), HasSubstr("schema_version"));
}

std::vector<CaseEntry> some_cases() {
    std::vector<CaseEntry> out;
    for (const char *name : {"dma.copy.a", "dma.copy.b", "dma.fill.a", "tier.alloc.x"}) out.push_back({.name = name});
    out.push_back({.name = "integrity.retention.bit_fade", .profile = "soak"});
    out.push_back({.name = "lying.a.b", .hidden = true});
    return out;
}

std::vector<std::string> chosen(const CaseFilter &filter) {
    const auto cases = choose_cases(some_cases(), filter);
    std::vector<std::string> out;
    if (!cases) return {"error: " + cases.error()};
    for (const CaseEntry &entry : *cases) out.push_back(entry.name);
    return out;
}

TEST(Filter, NamesBeginningsAndGlobs) {
    EXPECT_THAT(chosen({}), ElementsAre("dma.copy.a", "dma.copy.b", "dma.fill.a", "tier.alloc.x"));
    EXPECT_THAT(chosen({{"dma"}, {}, {}}), ElementsAre("dma.copy.a", "dma.copy.b", "dma.fill.a"));
    EXPECT_THAT(chosen({{"dma.copy"}, {"dma.copy.b"}, {}}), ElementsAre("dma.copy.a"));
    EXPECT_THAT(chosen({{"*.a"}, {}, {}}), ElementsAre("dma.copy.a", "dma.fill.a"));
    EXPECT_THAT(chosen({{"lying.a.b"}, {}, {}}), ElementsAre("lying.a.b")) << "hidden ones by their full name";
    EXPECT_THAT(chosen({{"lying"}, {}, {}}), ElementsAre(HasSubstr("error: no case matches 'lying'")));
    EXPECT_THAT(chosen({{"*"}, {"dma"}, Profile::soak}), ElementsAre("integrity.retention.bit_fade", "tier.alloc.x"));
}

TEST(Filter, WhatMatchesNothingIsAnErrorThatHelps) {
    EXPECT_THAT(chosen({{"dma", "teir"}, {}, {}}), ElementsAre(HasSubstr("'teir' (did you mean \"tier\"?)")));
    EXPECT_THAT(chosen({{"dma.copi.a"}, {}, {}}), ElementsAre(HasSubstr("did you mean \"dma.copy.a\"")));
    EXPECT_THAT(chosen({{"integrity"}, {}, {}}), ElementsAre(HasSubstr("add --profile soak")));
    EXPECT_THAT(chosen({{"tier"}, {"tier"}, {}}), ElementsAre(HasSubstr("is skipped")));
    EXPECT_THAT(chosen({{}, {"nothing"}, {}}), ElementsAre(HasSubstr("'nothing'")));
}

TEST(Glob, MatchesWholeTexts) {
    EXPECT_TRUE(glob_matches("*", ""));
    EXPECT_TRUE(glob_matches("a*c*", "abbcbc"));
    EXPECT_TRUE(glob_matches("?b", "ab"));
    EXPECT_FALSE(glob_matches("a", "ab"));
    EXPECT_FALSE(glob_matches("*b?", "ab"));
    EXPECT_FALSE(glob_matches("", "a"));
}

TEST(Seed, DependsOnBaseAndNameOnly) {
    EXPECT_EQ(case_seed(1, "dma.copy.a"), case_seed(1, "dma.copy.a"));
    EXPECT_NE(case_seed(1, "dma.copy.a"), case_seed(2, "dma.copy.a"));
    EXPECT_NE(case_seed(1, "dma.copy.a"), case_seed(1, "dma.copy.b"));
    EXPECT_EQ(case_seed(1, "dma.copy.a"), 0xd3c9dc3a0e933214u) << "seeds in old reports must go on meaning the same";
}

constexpr const char *good_waiver = "[[waiver]]\nid='W1'\ncase='dma.copy.*'\nowner='me'\nreason='firmware'\n"
                                    "issue='https://example.org/1'\nexpires=2027-03-31\n";

std::string error_of(const std::string &text) {
    const auto waivers = parse_waivers(text, "w.toml");
    return waivers ? "" : waivers.error();
}

TEST(Waivers, MistakesAreRefusedWithTheirPlace) {
    EXPECT_EQ(error_of(good_waiver), "");
    EXPECT_THAT(error_of(std::string(good_waiver) + "owners='x'\n"),
                HasSubstr("w.toml:8:1: unknown key 'owners' (did you mean"));
    EXPECT_THAT(error_of(std::string(good_waiver) + good_waiver), HasSubstr("'W1' is there twice"));
    EXPECT_THAT(error_of("[[waiver]]\nid='W1'\n"), HasSubstr("'case' is missing"));
    EXPECT_THAT(error_of("[waiver]\nid='W1'\n"), HasSubstr("[[waiver]]"));
    EXPECT_THAT(error_of(""), HasSubstr("no [[waiver]]"));
    EXPECT_THAT(error_of("[[waiver]\n"), HasSubstr("w.toml:1:"));
    std::string text = good_waiver;
    text.replace(text.find("2027-03-31"), 10, "'next year'");
    EXPECT_THAT(error_of(text), HasSubstr("no date"));
    EXPECT_THAT(error_of(std::string(good_waiver) + "driver='535'\n"), HasSubstr("comparisons"));
    EXPECT_THAT(error_of(std::string(good_waiver) + "must_fail='yes'\n"), HasSubstr("boolean"));
    EXPECT_THAT(unmatched_waiver(*parse_waivers(good_waiver, "w"), {{.name = "tier.alloc.x"}}),
                HasSubstr("no case matches"));
    EXPECT_EQ(unmatched_waiver(*parse_waivers(good_waiver, "w"), some_cases()), "");
}

CaseRecord under_waiver(Status status, const std::string &more = "", const std::string &today = "2026-11-29") {
    CaseRecord record = passed();
    record.status = status;
    apply_waivers(record, *parse_waivers(good_waiver + more, "w"), {"acme", "a0", "Acme X100", "acme 535.54.03", today});
    return record;
}

TEST(Waivers, CoverFailuresUntilTheirLastDay) {
    EXPECT_EQ(under_waiver(Status::fail).status, Status::waived);
    EXPECT_EQ(under_waiver(Status::fail).waiver, "W1");
    EXPECT_EQ(under_waiver(Status::crash).status, Status::waived);
    EXPECT_EQ(under_waiver(Status::fail, "must_fail=true\n").status, Status::xfail);
    EXPECT_EQ(under_waiver(Status::pass).status, Status::xpass);
    EXPECT_EQ(under_waiver(Status::fail, "", "2027-03-31").status, Status::waived);
    EXPECT_EQ(under_waiver(Status::fail, "", "2027-04-01").status, Status::fail);
    EXPECT_THAT(under_waiver(Status::fail, "", "2027-04-01").notes, ElementsAre(HasSubstr("expired on 2027-03-31")));
    EXPECT_EQ(under_waiver(Status::pass, "", "2027-04-01").status, Status::pass);
    EXPECT_EQ(under_waiver(Status::internal_error).status, Status::internal_error)
        << "the suite's own errors are never waived";
    EXPECT_EQ(under_waiver(Status::not_supported).status, Status::not_supported);
    EXPECT_EQ(under_waiver(Status::inconclusive).status, Status::inconclusive);
}

TEST(Waivers, HoldOnlyForTheirDeviceAndDriver) {
    EXPECT_EQ(under_waiver(Status::fail, "plugin='acme'\ndevice='*X100*'\ndriver='>=535.54 <536'\n").status, Status::waived);
    EXPECT_EQ(under_waiver(Status::fail, "plugin='other'\n").status, Status::fail);
    EXPECT_EQ(under_waiver(Status::fail, "device='*X200*'\n").status, Status::fail);
    EXPECT_EQ(under_waiver(Status::fail, "driver='>=536'\n").status, Status::fail);
}

TEST(Waivers, DriverVersionsCompareAsNumbers) {
    EXPECT_TRUE(driver_in_range(">=535.9", "nvidia 535.54"));
    EXPECT_FALSE(driver_in_range("<535.9", "nvidia 535.54"));
    EXPECT_TRUE(driver_in_range("=535", "535.0"));
    EXPECT_FALSE(driver_in_range(">=1", "")) << "a version that is not known is in no range";
    EXPECT_FALSE(driver_in_range("", "535"));
}

RunRecord run_of(std::initializer_list<Status> statuses) {
    RunRecord run;
    run.self_test_passed = true;
    for (const Status status : statuses) {
        run.cases.push_back(passed());
        run.cases.back().status = status;
    }
    decide(run, 0);
    return run;
}

TEST(Decide, VerdictAndExitCode) {
    EXPECT_EQ(exit_code(run_of({Status::pass, Status::not_supported, Status::warn_quality, Status::waived, Status::xfail})),
              0);
    for (const Status status :
         {Status::fail, Status::crash, Status::timeout, Status::device_lost, Status::internal_error, Status::xpass})
        EXPECT_EQ(exit_code(run_of({Status::pass, status, Status::inconclusive})), 1) << to_string(status);
    EXPECT_EQ(exit_code(run_of({Status::pass, Status::inconclusive})), 3);
    EXPECT_EQ(exit_code(run_of({Status::not_supported, Status::not_observable})), 1) << "nothing executed is no pass";
    EXPECT_EQ(exit_code(run_of({})), 1);
}

TEST(Decide, ASelfTestThatFailedLeavesNothingDecided) {
    RunRecord run = run_of({Status::pass});
    run.self_test_passed = false;
    decide(run, 0);
    EXPECT_EQ(run.verdict, "undecided");
    run.cases[0].status = Status::fail;
    decide(run, 0);
    EXPECT_EQ(run.verdict, "not conformant") << "what failed, failed";
    run.interrupted = true;
    decide(run, 0);
    EXPECT_EQ(run.verdict, "interrupted");
}

TEST(Decide, TheBoundIsOfAllBits) {
    RunRecord run = run_of({Status::pass, Status::pass});
    for (CaseRecord &one : run.cases) one.metrics.push_back({"integrity.bits_compared", "bits", 5e9, {}, 0, 0});
    decide(run, 3);
    EXPECT_EQ(run.bits_compared, 1e10);
    EXPECT_THAT(run.bound, HasSubstr("0 errors in 1"));
    EXPECT_THAT(run.bound, HasSubstr("99.9 %"));
    EXPECT_THAT(run.verdict_reason, HasSubstr("3 cases of the profile left out"));
}

TEST(Decide, WhereCasesFoundWrongBytesThereIsNoBound) {
    RunRecord run = run_of({Status::pass, Status::fail});
    run.cases[0].metrics.push_back({"integrity.bits_compared", "bits", 5e9, {}, 0, 0});
    Evidence evidence;
    evidence.wrong_bytes = 4;
    run.cases[1].evidence.push_back(evidence);
    decide(run, 0);
    EXPECT_EQ(run.bound, "1 case found wrong bytes: no bound; the patterns alone found 0 in 5e+09 bits");
}

TEST(HostFacts, ChangesOfCounters) {
    EXPECT_THAT(health_changes({{"a", 1}, {"b", 2}, {"c", 3}}, {{"a", 1}, {"b", 5}}),
                ElementsAre("b 2 -> 5", "c 3 -> not readable any more"));
}

TEST(PrivateCacheFolder, LiesBesideTheUsersAndGoesWithItsRun) {
    namespace fs = std::filesystem;
    std::string home = (fs::temp_directory_path() / "hbf-runner-XXXXXX").string();
    ASSERT_NE(mkdtemp(home.data()), nullptr);
    setenv("XDG_CACHE_HOME", home.c_str(), 1);
    const fs::path base = fs::path(home) / "hbf";
    // No process has the largest number; the others are not this run's to remove.
    const std::vector<std::string> others = {"conformance-1-abcdef", "conformance-x-abcdef", "storage"};
    fs::create_directories(base / "conformance-2147483647-abcdef" / "hbf");
    for (const std::string &name : others) fs::create_directories(base / name);
    fs::path folder;
    {
        const PrivateCache cache;
        folder = cache.folder();
        EXPECT_EQ(folder.parent_path(), base);
        EXPECT_EQ(cache.variable(), "XDG_CACHE_HOME=" + folder.string());
        fs::create_directories(folder / "hbf" / "storage");
        EXPECT_FALSE(fs::exists(base / "conformance-2147483647-abcdef")) << "left by a run that was killed";
    }
    EXPECT_FALSE(fs::exists(folder));
    for (const std::string &name : others) EXPECT_TRUE(fs::exists(base / name)) << name;
    unsetenv("XDG_CACHE_HOME");
    fs::remove_all(home);
}

TEST(Replay, IsOneCommandThatAShellTakes) {
    RunOptions options;
    options.target = {"/opt/my plugins/p.so", "dev0", {{"k", "it's"}}};
    options.filter.profile = Profile::full;
    options.inject = "flip,rate=3;stale";
    EXPECT_EQ(replay_command(options, "dma.copy.a", 0x12, need::crc | need::cancel),
              "hbf conformance --plugin '/opt/my plugins/p.so' --device dev0 --option 'k=it'\\''s' --profile full "
              "--inject 'flip,rate=3;stale' --mask cancel,crc --filter dma.copy.a --seed 0x12");
    EXPECT_THAT(mask_of({"crc", "none"}).error(), HasSubstr("'none'"));
    EXPECT_EQ(mask_of({"crc"}).value_or(0), need::crc);
}

TEST(Peer, GoesAlongOnTheCommandLine) {
    const auto parsed = parse_case_arguments(
        {"--plugin", "/a.so", "--case", "x.y", "--peer", "/b.so", "--peer-device", "d1", "--peer-option", "key=value"});
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(parsed->subject.plugin_file, "/a.so");
    EXPECT_EQ(parsed->subject.peer.plugin_file, "/b.so");
    EXPECT_EQ(parsed->subject.peer.device_id, "d1");
    ASSERT_EQ(parsed->subject.peer.options.size(), 1u);
    EXPECT_EQ(parsed->subject.peer.options[0].second, "value");
    EXPECT_TRUE(parsed->subject.options.empty());
    const auto again = parse_case_arguments(words_of(*parsed));
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(again->subject.peer.plugin_file, "/b.so");
    EXPECT_EQ(again->subject.peer.device_id, "d1");
    EXPECT_EQ(again->subject.peer.options, parsed->subject.peer.options);
    EXPECT_FALSE(parse_case_arguments({"--plugin", "/a.so", "--case", "x.y", "--peer-option", "none"}));
}

TEST(Peer, IsNoneOrAFileOrRefused) {
    Target target{"/a.so", "", {}};
    ASSERT_TRUE(add_peer(target, "none", {}));
    EXPECT_TRUE(target.peer.plugin_file.empty());
    EXPECT_EQ(target.peer_asked, "none") << "so that a replay says it too";
    const auto missing = add_peer(target, "/no/such/file.so", {});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, TargetError::usage);
    EXPECT_NE(missing.error().message.find("--peer"), std::string::npos) << missing.error().message;
    const std::string file = std::filesystem::canonical("/proc/self/exe").string();
    ASSERT_TRUE(add_peer(target, file, {}));
    EXPECT_EQ(target.peer.plugin_file, file);
}

} // namespace
} // namespace hbf::conformance
