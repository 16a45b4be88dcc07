// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/loader/hostile/scene.hpp"
#include "core/loader/run_path.hpp"

namespace hbf::loader {
namespace {

using hostile::Scene;
namespace fs = std::filesystem;

class RunPath : public testing::Test {
protected:
    void SetUp() override {
        hostile::write_bytes(plugins / "acme.so", "");
        if (const auto unsafe = first_objection(*walk_to(plugins / "acme.so"), nullptr))
            GTEST_SKIP() << "the folder for temporary files is not safe: " << *unsafe;
    }
    std::string objection(const std::string &run_path, std::vector<std::string> needed = {},
                          const Yardstick *yardstick = nullptr) const {
        ElfFacts facts;
        facts.run_path = run_path;
        facts.needed = std::move(needed);
        return run_path_objection(facts, plugins / "acme.so", yardstick).value_or("");
    }
    Scene scene;
    const fs::path plugins = scene.folder("plugins"), safe = scene.folder("plugins/safe"),
                   open = scene.folder("plugins/open", 0777);
};

TEST_F(RunPath, OfALibraryIsRead) {
    const std::string bytes = hostile::read_bytes(hostile::built() / "run_path.so");
    EXPECT_EQ(examine_elf(MemoryBytes(bytes), "hbf_plugin_query").run_path, "$ORIGIN/libs");
    const std::string without = hostile::read_bytes(hostile::built() / "plain_entry.so");
    EXPECT_EQ(examine_elf(MemoryBytes(without), "hbf_plugin_query").run_path, "");
}

TEST_F(RunPath, EachFolderIsJudged) {
    EXPECT_EQ(objection(""), "");
    EXPECT_EQ(objection(safe.string()), "");
    EXPECT_EQ(objection("$ORIGIN/safe:${ORIGIN}:/usr/lib"), "");
    const std::string found = objection("$ORIGIN/safe:${ORIGIN}/open");
    EXPECT_EQ(found.find("it has the libraries that it needs looked for in \"${ORIGIN}/open\": " + open.string() +
                         ": writable by everyone (mode 0777); remedy: chmod o-w"),
              0u)
        << found;
}

TEST_F(RunPath, WhatDoesNotExistCouldBeMade) {
    EXPECT_EQ(objection("$ORIGIN/safe/missing/too"), "");
    EXPECT_NE(objection("$ORIGIN/open/missing"), "");
    scene.folder("sticky", 01777);
    EXPECT_NE(objection((scene.top() / "sticky/missing").string()), "") << "anybody may make a folder there";
}

TEST_F(RunPath, WhatCannotBeJudgedIsNotTrusted) {
    for (const char *path : {"libs", "$ORIGIN/safe:", ":$ORIGIN/safe", "$ORIGIN::/usr/lib", "."})
        EXPECT_NE(objection(path).find("relative to the working directory; remedy: "), std::string::npos) << path;
    EXPECT_NE(objection("/usr/$LIB").find("not known"), std::string::npos);
    EXPECT_NE(objection("$ORIGIN/acme.so").find("cannot be told"), std::string::npos) << "a file, no folder";
}

TEST_F(RunPath, SoAreTheLibrariesFoundThere) {
    hostile::write_bytes(safe / "libgood.so", "");
    hostile::write_bytes(safe / "libbad.so", "");
    chmod((safe / "libbad.so").c_str(), 0666);
    EXPECT_EQ(objection("$ORIGIN/safe", {"libgood.so", "libelsewhere.so"}), "");
    EXPECT_NE(objection("$ORIGIN/safe", {"libgood.so", "libbad.so"}).find("libbad.so: writable by everyone"),
              std::string::npos);
    EXPECT_EQ(objection("", {"libbad.so"}), "");
    EXPECT_NE(objection("", {(safe / "libbad.so").string()}), "");
    EXPECT_NE(objection("", {(open / "libmissing.so").string()}), "");
    EXPECT_EQ(objection("", {(safe / "libmissing.so").string()}), "");
    EXPECT_NE(objection("", {"libs/libgood.so"}).find("relative"), std::string::npos);
}

TEST_F(RunPath, TheInstallationIsHeldToItsOwnMeasure) {
    hostile::write_bytes(open / "program", "");
    const Yardstick yardstick = Yardstick::of({open / "program"});
    EXPECT_EQ(objection("$ORIGIN/open", {}, &yardstick), "");
}

} // namespace
} // namespace hbf::loader
