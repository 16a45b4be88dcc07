// SPDX-License-Identifier: Apache-2.0
// The kill matrix without a plugin: what is compared, how work is shared out, and what makes it fail.
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/mutants/agreement.hpp"
#include "conformance/mutants/matrix_report.hpp"
#include "conformance/mutants/pool.hpp"
#include "conformance/mutants/trial.hpp"

namespace hbf::conformance {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CaseEntry entry(const std::string &name, std::vector<std::string> kills, const std::string &unproven = "") {
    CaseEntry made;
    made.name = name;
    made.kills = std::move(kills);
    made.unproven = unproven;
    return made;
}

Mutant mutant(std::string_view name, std::vector<std::string_view> killers) {
    Mutant made;
    made.name = name;
    made.description = "something";
    made.killers = std::move(killers);
    return made;
}

TEST(Agreement, BothSidesSayTheSame) {
    EXPECT_THAT(disagreements({entry("a.b", {"m1", "m2"}), entry("c.d", {}, "cannot be made wrong")},
                              {mutant("m1", {"a.b"}), mutant("m2", {"a.b"})}),
                IsEmpty());
}

TEST(Agreement, EachDisagreementIsSaid) {
    const auto said = [](std::vector<CaseEntry> cases, std::vector<Mutant> mutants, const char *what) {
        EXPECT_THAT(disagreements(cases, mutants), Contains(HasSubstr(what)));
    };
    said({entry("a.b", {"m1"})}, {}, "a.b is to kill m1, and there is no such mutant");
    said({entry("a.b", {}, "why")}, {mutant("m1", {"a.b"})}, "m1 is to be killed by a.b, which does not list it");
    said({entry("a.b", {"m1"})}, {mutant("m1", {"c.d"})}, "a.b is to kill m1, which does not list it");
    said({}, {mutant("m1", {"c.d"})}, "m1 is to be killed by c.d, and there is no such case");
    said({entry("a.b", {})}, {}, "a.b kills no mutant");
    said({}, {mutant("m1", {})}, "m1 names no case");
    said({}, {mutant("m1", {"a.b"}), mutant("m1", {"a.b"})}, "m1 is there twice");
    CaseEntry hidden = entry("a.b", {});
    hidden.hidden = true;
    EXPECT_THAT(disagreements({hidden}, {}), IsEmpty());
}

TEST(Pool, EachPieceIsDoneOnceByOtherProcesses) {
    std::multiset<std::string> results;
    std::set<std::string> who;
    const auto shared = share_out(
        100, 3, [](size_t i) { return std::to_string(i) + " " + std::to_string(getpid()); },
        [&](size_t i, const std::string &line) {
            const size_t space = line.find(' ');
            EXPECT_EQ(line.substr(0, space), std::to_string(i));
            results.insert(line.substr(0, space));
            who.insert(line.substr(space));
        },
        {});
    ASSERT_TRUE(shared) << shared.error();
    EXPECT_THAT(results, SizeIs(100));
    EXPECT_THAT(std::set(results.begin(), results.end()), SizeIs(100));
    EXPECT_FALSE(who.contains(" " + std::to_string(getpid())));
}

// The only other worker waits for the two: without workers of their own they would never begin.
TEST(Pool, WhatWaitsHoldsUpNobody) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const auto work = [&](size_t i) {
        char byte = 0;
        for (int n = 0; i == 2 && n < 2; ++n)
            if (::read(ends[0], &byte, 1) != 1) return std::string("no byte");
        if (i < 2 && ::write(ends[1], "x", 1) != 1) return std::string("not written");
        return std::to_string(i);
    };
    std::multiset<std::string> results;
    const auto shared = share_out(6, 1, work, [&](size_t, const std::string &line) { results.insert(line); }, {}, 2);
    ::close(ends[0]);
    ::close(ends[1]);
    ASSERT_TRUE(shared) << shared.error();
    EXPECT_EQ(results, (std::multiset<std::string>{"0", "1", "2", "3", "4", "5"}));
}

TEST(Pool, LongResultsComeWhole) {
    const auto shared = share_out(
        4, 2, [](size_t i) { return std::string(300'000, static_cast<char>('a' + i)); },
        [](size_t i, const std::string &line) { EXPECT_EQ(line, std::string(300'000, static_cast<char>('a' + i))); }, {});
    EXPECT_TRUE(shared);
}

TEST(Pool, AWorkerThatEndsIsAnError) {
    const auto shared = share_out(
        5, 2, [](size_t i) { return i == 3 ? (_exit(7), std::string()) : std::string("x"); },
        [](size_t, const std::string &) {}, {});
    ASSERT_FALSE(shared);
    EXPECT_THAT(shared.error(), HasSubstr("ended before its work"));
}

TEST(Pool, AnInterruptionStopsIt) {
    size_t done = 0;
    const auto shared = share_out(
        1'000'000, 2, [](size_t) { return std::string("x"); }, [&](size_t, const std::string &) { ++done; },
        [&] { return done > 10 ? 2 : 0; });
    EXPECT_TRUE(shared);
    EXPECT_LT(done, 1'000'000u);
}

TEST(Trial, AFolderIsMadeAndGoneAgain) {
    SubjectOptions subject{"/x.so", "", {{"sim.persist", "@folder"}, {"other", "@folders"}}};
    std::filesystem::path path;
    {
        const TrialFolder folder(subject);
        path = subject.options[0].second;
        EXPECT_TRUE(std::filesystem::is_directory(path));
        EXPECT_EQ(subject.options[1].second, "@folders");
        std::ofstream(path / "left") << "behind";
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Trial, AVendorThatIsNotBuiltIsSaidAndNotTried) {
    Mutant made = mutant("m1", {"a.b"});
    made.base = Base::emulated;
    made.vendor = "nobody";
    made.machine = "a100";
    const auto trial = trial_of(made, true);
    ASSERT_FALSE(trial);
    EXPECT_THAT(trial.error(), HasSubstr("hbf_plugin_nobody.so"));
    EXPECT_THAT(trial.error(), HasSubstr("remedy"));
    EXPECT_EQ(base_of(made), "emulated nobody");
}

TEST(Trial, TheEmulatedMachineIsPartOfWhatIsTried) {
    Trial one{"/case", {"/x.so", "", {}}, {"HBF_EMULATE_PROFILE=a100"}}, other = one;
    other.environment = {"HBF_EMULATE_PROFILE=h100"};
    EXPECT_NE(one.key(), other.key());
}

Matrix killed_matrix(const Mutant &made) {
    Matrix matrix;
    const Attempt kill{"a.b", Status::fail, "found", 1}, pass{"a.b", Status::pass, "", 1};
    matrix.rows.push_back({&made, "", {kill}, {pass}, {}});
    return matrix;
}

TEST(Matrix, EveryKillerMustKillAndEveryBaseBeClean) {
    const Mutant made = mutant("m1", {"a.b"});
    EXPECT_TRUE(killed_matrix(made).good());
    for (const Status status : {Status::pass, Status::not_supported, Status::not_observable, Status::inconclusive,
                                Status::internal_error, Status::not_run, Status::warn_quality}) {
        Matrix matrix = killed_matrix(made);
        matrix.rows[0].intended[0].status = status;
        EXPECT_FALSE(matrix.good()) << to_string(status);
        EXPECT_THAT(matrix_text(matrix), HasSubstr("SURVIVED"));
    }
    for (const Status status : {Status::fail, Status::not_supported, Status::crash, Status::inconclusive}) {
        Matrix matrix = killed_matrix(made);
        matrix.rows[0].base[0].status = status;
        EXPECT_FALSE(matrix.good()) << to_string(status);
        EXPECT_THAT(matrix_text(matrix), HasSubstr("base fails"));
    }
    Matrix accident = killed_matrix(made);
    accident.rows[0].intended[0].status = Status::crash;
    EXPECT_FALSE(accident.good()) << "it was to say that something is wrong, not to crash";
    EXPECT_THAT(matrix_text(accident), HasSubstr("a.b found it by accident only: crash"));
    Mutant told = mutant("m1", {"a.b"});
    told.says = "driver_too_old";
    Matrix silent = killed_matrix(told);
    EXPECT_FALSE(silent.good()) << "it was to name the cause";
    EXPECT_THAT(matrix_text(silent), HasSubstr("a.b found it and does not say \"driver_too_old\": fail: found"));
    silent.rows[0].intended[0].reason = "probe: driver_too_old: CUDA 9";
    EXPECT_TRUE(silent.good());
    Matrix second = killed_matrix(made);
    second.rows[0].intended.push_back({"c.d", Status::pass, "", 2});
    EXPECT_FALSE(second.good()) << "killed, but not by each that must";
    Matrix disagree = killed_matrix(made);
    disagree.disagreements.emplace_back("they differ");
    EXPECT_FALSE(disagree.good());
    Matrix missing = killed_matrix(made);
    missing.rows[0].unavailable = "not built";
    EXPECT_FALSE(missing.complete());
}

TEST(Matrix, ARefusedFaultIsNoKill) {
    Attempt attempt{"a.b", Status::fail, "create: HBF_INVALID: option inject.fault: there is no fault \"flap\"", 1};
    EXPECT_FALSE(attempt.kills());
    attempt.reason = "byte 3 is wrong";
    EXPECT_TRUE(attempt.kills());
    Mutant made = mutant("m1", {"a.b"});
    made.fault = "drop-tail,bytes=1";
    EXPECT_EQ(fault_wrong(made), "");
    made.given = "drop-tale";
    EXPECT_THAT(fault_wrong(made), HasSubstr("drop-tail")) << "the nearest name";
    made.given = "device-error,status=lost";
    EXPECT_THAT(fault_wrong(made), HasSubstr("status"));
    made.given = "device-error,statis=internal";
    EXPECT_THAT(fault_wrong(made), HasSubstr("statis"));
    made.base = Base::emulated;
    made.fault = "drop-tail:value=1;batch-last";
    made.given = "";
    EXPECT_EQ(fault_wrong(made), "");
    made.fault = "drop-tale:value=1";
    EXPECT_THAT(fault_wrong(made), HasSubstr("drop-tail")) << "the machine's faults, not the wrapper's";
}

TEST(Table, IsComparedLineByLine) {
    const Mutant one = mutant("m1", {"a.b"}), two = mutant("m2", {"a.b", "c.d"});
    Matrix matrix;
    matrix.full = true;
    matrix.rows = {{&one, "", {}, {}, {{"e.f", Status::fail, "", 1}}}, {&two, "", {}, {}, {}}};
    const std::string table = matrix_table(matrix, {one, two});
    EXPECT_THAT(table, HasSubstr("| `m1` | sim | something | a.b | e.f |"));
    EXPECT_THAT(table_differences(table, {one, two}), IsEmpty());
    Matrix quick = matrix;
    quick.full = false;
    quick.rows[0].others.clear();
    EXPECT_EQ(matrix_table(quick, {one, two}, table), table) << "who else found it was lost";
    EXPECT_THAT(matrix_table(quick, {one, two}), HasSubstr("| `m1` | sim | something | a.b |  |"));
    Matrix part = matrix;
    part.rows.pop_back();
    part.rows[0].others[0].case_name = "g.h";
    EXPECT_THAT(matrix_table(part, {one, two}, table), HasSubstr("| `m1` | sim | something | a.b | g.h |\n| `m2`"));
    EXPECT_THAT(table_differences(table, {one}), Contains(HasSubstr("has m2, the catalogue does not")));
    EXPECT_THAT(table_differences(table, {one, two, mutant("m3", {"a.b"})}), Contains(HasSubstr("lacks m3")));
    EXPECT_THAT(table_differences(table, {one, mutant("m2", {"a.b"})}), Contains(HasSubstr("has m2 otherwise")));
}

TEST(Catalogue, NamesAreUniqueAndEntriesWhole) {
    std::set<std::string_view> names;
    for (const Mutant &made : all_mutants()) {
        EXPECT_TRUE(names.insert(made.name).second) << made.name << " is there twice";
        EXPECT_FALSE(made.description.empty()) << made.name;
        EXPECT_EQ(made.description.find('|'), std::string_view::npos) << made.name << ": it stands in a table";
        EXPECT_FALSE(made.killers.empty()) << made.name;
        EXPECT_EQ(made.variant.empty(), made.base != Base::variant && made.base != Base::guard) << made.name;
        EXPECT_EQ(made.vendor.empty(), made.base != Base::emulated) << made.name;
        EXPECT_EQ(made.machine.empty(), made.base != Base::emulated) << made.name;
        EXPECT_TRUE(!made.fault.empty() || !made.variant.empty() || !made.options.empty()) << made.name << " has no fault";
        EXPECT_EQ(fault_wrong(made), "") << made.name;
    }
    EXPECT_EQ(find_mutant("m02_drop_tail")->name, "m02_drop_tail");
    EXPECT_EQ(find_mutant("no such"), nullptr);
}

} // namespace
} // namespace hbf::conformance
