// SPDX-License-Identifier: Apache-2.0
// Packages, whole and tampered with.
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/report/package.hpp"
#include "conformance/report/report.hpp"
#include "conformance/report/testing/sample_run.hpp"
#include "conformance/runner/decide.hpp"

namespace hbf::conformance {
namespace {

using testing::HasSubstr;
namespace stdfs = std::filesystem;

const char *const statement = "company = \"Acme\"\nproduct = \"X\"\ncontact = \"x@example.org\"\n";

RunRecord decided_run() {
    RunRecord run = clean_run(7);
    decide(run, 0);
    return run;
}

class Package : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "hbf-package-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder = name;
    }
    void TearDown() override { stdfs::remove_all(folder); }

    stdfs::path write(const std::string &name, const std::string &bytes) {
        std::ofstream(folder / name, std::ios::binary) << bytes;
        return folder / name;
    }
    stdfs::path packed(Files files, bool new_sums) {
        if (new_sums) files[sums_file] = sums_of(files);
        const auto bytes = pack("hbf-conformance-x", files, 0);
        return write("p.tar.gz", bytes.value());
    }
    Files files(const RunRecord &run) {
        Files out = package_files(run, statement).value();
        out[sums_file] = sums_of(out);
        return out;
    }
    static std::string text(const Verification &verification) { return verification_text(verification); }

    stdfs::path folder;
    VerifyOptions options;
};

TEST_F(Package, AWholeOneIsAccepted) {
    const auto bytes = make_package(decided_run(), statement, {});
    ASSERT_TRUE(bytes) << bytes.error();
    const auto result = verify_package(write("p.tar.gz", *bytes), options);
    EXPECT_TRUE(result.accepted()) << text(result);
    EXPECT_THAT(text(result), HasSubstr("not signed")) << "and says what that leaves open";
    EXPECT_EQ(*bytes, make_package(decided_run(), statement, {}).value()) << "the same run gives the same bytes";
}

TEST_F(Package, AnEditedFileIsNamed) {
    for (const auto &[name, content] : files(decided_run())) {
        if (name == sums_file) continue;
        Files edited = files(decided_run());
        edited[name] += " ";
        const auto result = verify_package(packed(edited, false), options);
        EXPECT_FALSE(result.accepted()) << name;
        EXPECT_THAT(text(result), HasSubstr(name + " was changed"));
    }
}

TEST_F(Package, AFileMoreOrLessIsNamed) {
    Files more = files(decided_run());
    more["logs/extra.log"] = "x";
    EXPECT_THAT(text(verify_package(packed(more, false), options)), HasSubstr("logs/extra.log was added"));
    Files less = files(decided_run());
    less.erase("junit.xml");
    EXPECT_THAT(text(verify_package(packed(less, false), options)), HasSubstr("junit.xml was taken out"));
    Files none = files(decided_run());
    none.erase(sums_file);
    EXPECT_THAT(text(verify_package(packed(none, false), options)), HasSubstr("SHA256SUMS is missing"));
}

// Somebody who makes the sums anew still has to make all of it agree.
TEST_F(Package, AFailureTurnedIntoAPassIsFoundWithoutTheSums) {
    RunRecord failing = decided_run();
    failing.cases[1].status = Status::fail;
    failing.cases[1].reason = "byte 3 is wrong";
    decide(failing, 0);
    EXPECT_THAT(text(verify_package(packed(files(failing), true), options)), HasSubstr("the run itself is not conformant"));

    RunRecord lying = failing; // only the verdict is changed
    lying.verdict = "conformant";
    EXPECT_THAT(text(verify_package(packed(files(lying), true), options)),
                HasSubstr("its cases add up to 'not conformant'"));

    Files patched = files(failing); // only the results are changed, the reports are left
    patched["results.json"] = report_json(decided_run());
    const std::string said = text(verify_package(packed(patched, true), options));
    EXPECT_THAT(said, HasSubstr("report.html does not say what the results say"));
    EXPECT_THAT(said, HasSubstr("junit.xml does not say what the results say"));
}

TEST_F(Package, WhatWouldNotCountIsSaid) {
    const auto said = [&](auto &&change, bool again = true) {
        RunRecord run = decided_run();
        change(run);
        if (again) decide(run, 0);
        const auto result = verify_package(packed(files(run), true), options);
        EXPECT_FALSE(result.accepted());
        return text(result);
    };
    EXPECT_THAT(said([](RunRecord &run) { run.inject = {{"flip", ""}}; }), HasSubstr("faults were injected"));
    EXPECT_THAT(said([](RunRecord &run) { run.interrupted = true; }), HasSubstr("interrupted"));
    EXPECT_THAT(said([](RunRecord &run) { run.self_test_passed = false; }), HasSubstr("self-test"));
    EXPECT_THAT(said([](RunRecord &run) { run.cases[0].checks = 0; }), HasSubstr("passed without a check"));
    EXPECT_THAT(said([](RunRecord &run) { run.cases.push_back(run.cases[0]); }), HasSubstr("is there twice"));
    EXPECT_THAT(said([](RunRecord &run) { run.bound = "0 errors in 9e99 bits"; }, false), HasSubstr("does not follow"));
    EXPECT_THAT(said([](RunRecord &run) { run.plugin[1].second = ""; }), HasSubstr("hash of the plugin"));
    options.must_run_of = [](const std::string &) {
        return std::vector<std::string>{"abi.exports.only_entry_symbol", "async.wait.timeout_honoured"};
    };
    EXPECT_THAT(said([](RunRecord &) {}), HasSubstr("async.wait.timeout_honoured of profile quick was not run"));
}

TEST_F(Package, AStatementWithGapsIsNoSubmission) {
    Files unfilled = package_files(decided_run(), statement_template(decided_run())).value();
    EXPECT_THAT(text(verify_package(packed(unfilled, true), options)), HasSubstr("does not say: company, product, contact"));
    EXPECT_FALSE(package_files(decided_run(), "company = 3\n"));
    EXPECT_FALSE(package_files(decided_run(), "firm = \"x\"\n"));
}

TEST_F(Package, DamagedAndHostileArchivesAreRefused) {
    const std::string bytes = make_package(decided_run(), statement, {}).value();
    for (const size_t keep : {size_t{0}, size_t{1}, size_t{20}, bytes.size() / 2, bytes.size() - 40}) {
        const auto result = verify_package(write("cut.tar.gz", bytes.substr(0, keep)), options);
        EXPECT_FALSE(result.accepted()) << keep;
    }
    EXPECT_FALSE(verify_package(folder / "absent.tar.gz", options).readable);
    EXPECT_FALSE(verify_package(folder, options).readable);
    EXPECT_FALSE(verify_package(write("text", "no archive"), options).readable);
    for (const char *name : {"../../etc/x", "/abs", "a/../b"}) {
        const auto evil = pack("p", {{name, "x"}}, 0);
        ASSERT_TRUE(evil);
        EXPECT_FALSE(unpack(write("evil.tar.gz", *evil))) << name;
    }
}

TEST_F(Package, ASignatureSaysWhoAndHoldsForTheseBytesOnly) {
    const std::string key = (folder / "key").string();
    if (std::system(("ssh-keygen -q -t ed25519 -N '' -C tester -f " + key + " >/dev/null 2>&1").c_str()) != 0)
        GTEST_SKIP() << "needs ssh-keygen (Debian: openssh-client)";
    const auto bytes = make_package(decided_run(), statement, key);
    ASSERT_TRUE(bytes) << bytes.error();
    std::ifstream open(key + ".pub");
    std::string type, blob;
    open >> type >> blob;
    options.signers = write("signers", "lab@example.org " + type + " " + blob + "\n");
    const auto good = verify_package(write("p.tar.gz", *bytes), options);
    EXPECT_TRUE(good.accepted()) << text(good);
    EXPECT_THAT(text(good), HasSubstr("signed by lab@example.org"));

    Files other = files(clean_run(8));
    other[signature_file] = unpack(folder / "p.tar.gz")->files.at(signature_file);
    EXPECT_THAT(text(verify_package(packed(other, true), options)), HasSubstr("the signature does not hold"));
    options.signers = write("nobody", "");
    EXPECT_THAT(text(verify_package(write("p2.tar.gz", *bytes), options)), HasSubstr("its key is not in"));
    EXPECT_FALSE(verify_package(packed(files(decided_run()), true), options).accepted())
        << "signers asked for, no signature";
    EXPECT_FALSE(make_package(decided_run(), statement, folder / "absent"));
}

} // namespace
} // namespace hbf::conformance
