// SPDX-License-Identifier: Apache-2.0
// Names, placeholders, and a project that is there in full or not at all.
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tools/plugin/finding.hpp"
#include "tools/plugin/name.hpp"
#include "tools/plugin/project.hpp"
#include "tools/plugin/report.hpp"
#include "tools/plugin/template.hpp"

namespace hbf::tools::plugin {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Folder {
public:
    Folder() {
        std::string pattern = (fs::temp_directory_path() / "hbf-plugin-XXXXXX").string();
        if (!mkdtemp(pattern.data())) throw std::runtime_error("no folder");
        path_ = pattern;
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    fs::path operator/(const char *name) const { return path_ / name; }
    size_t entries() const {
        return static_cast<size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
    }

private:
    fs::path path_;
};

std::string content(const fs::path &file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

const std::vector<TemplateFile> two_files = {{"meson.build", "project('a')\n", false}, {"sub/run.sh", "#!/bin/sh\n", true}};

TEST(Name, WhatAPluginMayBeCalled) {
    for (const char *good : {"a", "acme", "acme-2_x", "x0123456789012345678901234567y"})
        EXPECT_EQ(name_objection(good), "") << good;
    for (const char *bad : {"", "Acme", "1acme", "-acme", "a b", "a/b", "..", "a.b", "\xc3\xa4", "a\n", "-"})
        EXPECT_THAT(name_objection(bad), HasSubstr("lower-case")) << bad;
    EXPECT_THAT(name_objection(std::string(31, 'a')), HasSubstr("31 bytes; at most 30"));
    EXPECT_THAT(name_objection("host"), HasSubstr("comes with HBF"));
}

TEST(Name, WhatAVendorMayBeCalled) {
    for (const char *good : {"Acme Inc.", "O'Neill & Sons", "\xe4\xb8\x89 h"}) EXPECT_EQ(vendor_objection(good), "") << good;
    for (const char *bad : {"", "  ", "a\"b", "a\\b", "a@b", "a\nb", "a\x1b[31m", "\xff"})
        EXPECT_NE(vendor_objection(bad), "") << bad;
    EXPECT_NE(vendor_objection(std::string(129, 'a')), "");
}

TEST(Placeholders, AreReplacedAndOthersStay) {
    const Placeholders values = {{"NAME", "acme"}, {"VENDOR_QUOTED", "'@NAME@'"}};
    EXPECT_EQ(filled("@NAME@ a@b @name@ @VENDOR_QUOTED@ @ @@ @NAME", values).value(), "acme a@b @name@ '@NAME@' @ @@ @NAME");
    EXPECT_EQ(filled("", values).value(), "");
    EXPECT_EQ(filled("x@@NAME@@", values).value(), "x@acme@");
    EXPECT_THAT(filled("say @NAMES@", values).error(), HasSubstr("@NAMES@"));
}

TEST(Project, IsWrittenWithItsFoldersAndModes) {
    const Folder folder;
    ASSERT_TRUE(write_project(folder / "acme", two_files, {}));
    EXPECT_EQ(content(folder / "acme" / "meson.build"), "project('a')\n");
    struct stat facts = {};
    ASSERT_EQ(stat((folder / "acme" / "sub" / "run.sh").c_str(), &facts), 0);
    EXPECT_TRUE(facts.st_mode & S_IXUSR);
    ASSERT_EQ(stat((folder / "acme").c_str(), &facts), 0);
    const mode_t mask = umask(0);
    umask(mask);
    EXPECT_EQ(facts.st_mode & 0777u, 0777u & ~mask);
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(Project, NothingIsOverwritten) {
    const Folder folder;
    fs::create_directory(folder / "empty");
    std::ofstream(folder / "file") << "mine";
    fs::create_symlink("nowhere", folder / "link");
    for (const char *name : {"empty", "file", "link"}) {
        const auto written = write_project(folder / name, two_files, {});
        ASSERT_FALSE(written) << name;
        EXPECT_THAT(written.error(), HasSubstr("is there already")) << name;
    }
    EXPECT_TRUE(fs::is_empty(folder / "empty"));
    EXPECT_EQ(content(folder / "file"), "mine");
    EXPECT_EQ(folder.entries(), 3u);
}

// A limit of the file size is a full disk that a test can have.
TEST(Project, AFullDiskLeavesNothing) {
    const Folder folder;
    rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {5, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto written = write_project(folder / "acme", two_files, {});
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, ignored);
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error(), HasSubstr("meson.build: File too large"));
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(Project, AnInterruptionLeavesNothing) {
    const Folder folder;
    int asked = 0;
    EXPECT_FALSE(write_project(folder / "acme", two_files, [&] { return ++asked > 1; }));
    EXPECT_EQ(folder.entries(), 0u);
    EXPECT_THAT(write_project(folder / "absent" / "acme", two_files, {}).error(), HasSubstr("is no folder"));
}

TEST(Verdicts, CannotTellIsNeverPassAndFailGoesFirst) {
    Findings findings;
    findings.pass("a", "", "");
    findings.warn("b", "", "", "do");
    EXPECT_EQ(verdict_of({{{}, findings}}), Verdict::pass);
    findings.cannot_tell("c", "", "", "do");
    EXPECT_EQ(verdict_of({{{}, findings}}), Verdict::cannot_tell);
    findings.fail("d", "HBF-ABI-1", "\x1b[31m", "do");
    EXPECT_EQ(verdict_of({{{}, findings}}), Verdict::fail);
    EXPECT_EQ(findings.all().back().evidence.find('\x1b'), std::string::npos) << "a plugin's words steer no terminal";
    EXPECT_THAT(check_text({{{}, findings}}), HasSubstr("FAIL: 1 pass, 1 warn, 1 fail, 1 cannot tell"));
}

} // namespace
} // namespace hbf::tools::plugin
