// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/complete.hpp"

namespace hbf::tools {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class Complete : public testing::Test {
protected:
    std::vector<std::string> words(const std::vector<std::string> &line) {
        Command go{"go", "goes", "", "", {}, {}, [] { return 0; }};
        go.options = {{"--flag", &flag_, "", "a flag"},
                      {"-s,--size", Bytes{&size_}, "BYTES", "a size"},
                      {"--tier,--mode", &list_, "NAME", "tiers", false, "", Offer::by_name,
                       [] { return std::vector<std::string>{"dram0", "hbf0"}; }},
                      {"--how", Choice{&text_, {"fast", "slow"}}, "WORD", "one of"},
                      {"--output", &text_, "FILE", "a file"},
                      {"--root", &text_, "DIR", "a folder"},
                      {"--secret", &flag_, "", "", false, hidden_option},
                      {"WHAT", Choice{&text_, {"this", "that"}}, "WHAT", "a word", true},
                      {"KEY", &text_, "KEY", "a file", false, "", Offer::files}};
        Command child{"show", "shows", "", "", {{"--origin", &flag_, "", "origin"}}, {}, [] { return 0; }};
        Command parent{"config", "settings", "", "", {}, {child}, {}};
        const auto found = complete({go, parent}, line);
        files = found.files;
        std::vector<std::string> out;
        for (const auto &one : found.candidates) out.push_back(one.word);
        lines = completion_lines(found);
        return out;
    }
    Offer files = Offer::by_name;
    std::string lines;

private:
    bool flag_ = false;
    uint64_t size_ = 0;
    std::string text_;
    std::vector<std::string> list_;
};

TEST_F(Complete, CommandsAndTheirChildren) {
    EXPECT_THAT(words({""}), ElementsAre("go", "config", "help"));
    EXPECT_THAT(words({"c"}), ElementsAre("config"));
    EXPECT_THAT(words({"config", ""}), ElementsAre("show"));
    EXPECT_THAT(words({"config", "show", "--o"}), ElementsAre("--origin"));
    EXPECT_THAT(words({"help", "con"}), ElementsAre("config"));
    EXPECT_THAT(words({"help", "config", ""}), ElementsAre("show"));
    EXPECT_THAT(words({"help", "nothing", ""}), IsEmpty());
    EXPECT_THAT(words({"nothing", ""}), IsEmpty());
    EXPECT_THAT(words({}), ElementsAre("go", "config", "help"));
}

TEST_F(Complete, OptionsOnceUnlessTheyRepeat) {
    EXPECT_THAT(words({"go", "--f"}), ElementsAre("--flag"));
    EXPECT_THAT(words({"go", "--flag", "--f"}), IsEmpty());
    EXPECT_THAT(words({"go", "--tier", "a", "--t"}), ElementsAre("--tier"));
    EXPECT_THAT(words({"go", "--"}), Not(Contains("--secret")));
    EXPECT_THAT(words({"go", "--"}), Contains("--help"));
    EXPECT_THAT(words({"go", "-"}), Contains("-s"));
    EXPECT_THAT(words({"go", "-s", "1", "--s"}), IsEmpty()) << "-s is --size";
}

TEST_F(Complete, Values) {
    EXPECT_THAT(words({"go", "--how", ""}), ElementsAre("fast", "slow"));
    EXPECT_THAT(words({"go", "--how=f"}), ElementsAre("--how=fast"));
    EXPECT_THAT(words({"go", "--tier", "d"}), ElementsAre("dram0"));
    EXPECT_THAT(words({"go", "--tier", "dram0,h"}), ElementsAre("dram0,hbf0"));
    EXPECT_THAT(words({"go", "--mode=dram0,"}), ElementsAre("--mode=dram0,dram0", "--mode=dram0,hbf0"));
    EXPECT_THAT(words({"go", "--size", ""}), IsEmpty());
    EXPECT_THAT(words({"go", "--color", "n"}), ElementsAre("never"));
    EXPECT_THAT(words({"go", "--flag=x"}), IsEmpty());
}

TEST_F(Complete, ArgumentsByTheirPlace) {
    EXPECT_THAT(words({"go", "th"}), ElementsAre("this", "that"));
    EXPECT_EQ(files, Offer::by_name);
    EXPECT_THAT(words({"go", "--size", "1", "this", ""}), IsEmpty());
    EXPECT_EQ(files, Offer::files);
    words({"go", "this", "key", ""});
    EXPECT_EQ(files, Offer::by_name) << "there is no third argument";
    EXPECT_THAT(words({"go", "--", "th"}), ElementsAre("this", "that"));
    EXPECT_THAT(words({"go", "--", "--f"}), IsEmpty()) << "no options behind --";
}

TEST_F(Complete, FilesAndFolders) {
    words({"go", "--output", "x"});
    EXPECT_EQ(files, Offer::files);
    words({"go", "--output=x"});
    EXPECT_EQ(files, Offer::files);
    EXPECT_EQ(lines, ":files\n");
    words({"go", "--root", ""});
    EXPECT_EQ(lines, ":folders\n");
    words({"config", "s"});
    EXPECT_EQ(lines, "show\tshows\n:none\n");
}

TEST(Scripts, ThereIsOneForEachShell) {
    for (const char *shell : {"bash", "zsh", "fish"})
        EXPECT_NE(completion_script(shell).find(complete_word), std::string_view::npos) << shell;
    EXPECT_EQ(completion_script("tcsh"), "");
}

} // namespace
} // namespace hbf::tools
