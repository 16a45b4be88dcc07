// SPDX-License-Identifier: Apache-2.0
// Help and man pages, as text.
#include <cstdlib>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hbf/config.hpp"
#include "tools/cli/help.hpp"
#include "tools/cli/man.hpp"
#include "tools/cli/wrap.hpp"

namespace hbf::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Targets {
    bool flag = false;
    std::string text;
    std::vector<std::string> list;
};

Command sample(Targets &t) {
    Command command;
    command.name = "go";
    command.summary = "goes";
    command.description = "One line\nand its end.\n\n  kept  as it is\n  and this\n.dots, 'quotes' and back\\slashes";
    command.examples = "  hbf go --flag  with it\n  HBF_PLUGINS=a hbf go x  y's way\n  hbf go 'a b'\n";
    command.options = {{"-f,--flag", &t.flag, "", "a flag that has so much to say that it takes more than one line of help"},
                       {"--list", &t.list, "WORD", "words", false, "More"},
                       {"--secret", &t.flag, "", "nobody knows", false, hidden_option},
                       {"FILE", &t.text, "FILE", "a file", true}};
    command.exits = {{Exit::fail, "it stands"}};
    command.run = [] { return 0; };
    command.without_root = "nothing much.";
    return command;
}

class Width : public testing::Test {
protected:
    void set(const char *columns) { setenv("COLUMNS", columns, 1); }
    void TearDown() override { unsetenv("COLUMNS"); }
};

TEST(Fill, KeepsToTheWidthAndToWords) {
    EXPECT_THAT(fill("a bb  ccc\ndddd", 5), ElementsAre("a bb", "ccc", "dddd"));
    EXPECT_THAT(fill("unbreakable a", 4), ElementsAre("unbreakable", "a"));
    EXPECT_THAT(fill("±± ±±", 5), ElementsAre("±± ±±")); // columns, not bytes
    EXPECT_THAT(fill("", 5), ElementsAre());
}

TEST(Examples, LineAndMeaningArePartedByTwoBlanks) {
    Targets t;
    const auto examples = examples_of(sample(t));
    ASSERT_EQ(examples.size(), 3u);
    EXPECT_EQ(examples[1].line, "HBF_PLUGINS=a hbf go x");
    EXPECT_EQ(examples[1].what, "y's way");
    EXPECT_EQ(examples[2].line, "hbf go 'a b'");
    EXPECT_EQ(examples[2].what, "");
}

TEST_F(Width, HelpFitsWhateverTheTerminal) {
    Targets t;
    const Command command = sample(t);
    for (const char *columns : {"40", "80", "300"}) {
        set(columns);
        const std::string help = command_help({"hbf", "go"}, command);
        const size_t most = std::min<size_t>(std::stoul(columns), 100);
        std::istringstream lines(help);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(tools::columns(line), most) << line;
        for (const char *part :
             {"Usage: hbf go [OPTION...] FILE", "One line and its end.", "  kept  as it is\n  and this\n", "-f, --flag",
              "--list WORD", "More:", "Exit status:", "it stands", "hbf go 'a b'", "--color", "Without root: nothing"})
            EXPECT_THAT(help, HasSubstr(part)) << columns;
        EXPECT_THAT(help, Not(HasSubstr("secret")));
    }
    set("40");
    EXPECT_THAT(command_help({"hbf", "go"}, command), HasSubstr("  -f, --flag\n      a flag that has so much"));
    set("100");
    EXPECT_THAT(command_help({"hbf", "go"}, command), HasSubstr("  -f, --flag              a flag that has so much"));
}

TEST_F(Width, NonsenseInColumnsIsNoWidth) {
    Targets t;
    set("80");
    const std::string usual = command_help({"hbf", "go"}, sample(t));
    for (const char *columns : {"", "0", "-5", "wide", "99999999999999999999"}) {
        set(columns);
        EXPECT_EQ(command_help({"hbf", "go"}, sample(t)), usual) << columns;
    }
}

TEST(ProgramHelp, CommandsStandUnderTheirGroups) {
    Targets t;
    Command a = sample(t), b = sample(t), c = sample(t);
    a.group = c.group = "First", b.group = "Second";
    a.name = "aa", b.name = "bb", c.name = "cc";
    EXPECT_THAT(program_help({a, b, c}), HasSubstr("First:\n  aa  goes\n  cc  goes\n\nSecond:\n  bb  goes\n"));
}

TEST(Roff, NothingOfATextIsTakenForAnInstruction) {
    EXPECT_EQ(roff_text(".dot\n'quote\na.b"), "\\&.dot\n\\&\\(aqquote\na.b");
    EXPECT_EQ(roff_text("--a \\n ~ ^ ` \""), "\\-\\-a \\en \\(ti \\(ha \\(ga \\(dq");
}

TEST(ManPage, HasEverySectionInOrderAndTheSettingsOwnNames) {
    Targets t;
    Command command = sample(t);
    Command child = sample(t);
    child.name = "far";
    command.children = {child};
    const std::string page = command_man_page(command, {command});
    size_t at = 0;
    for (const char *section : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT",
                                "FILES", "EXAMPLES", "SEE ALSO"}) {
        const size_t found = page.find(std::string("\n.SH ") + section + "\n");
        ASSERT_NE(found, page.npos) << section;
        EXPECT_GT(found, at) << section;
        at = found;
    }
    EXPECT_THAT(page, HasSubstr(".TH HBF\\-GO 1 "));
    EXPECT_THAT(page, HasSubstr("hbf\\-go \\- goes\n"));
    EXPECT_THAT(page, HasSubstr("\\&.dots, \\(aqquotes\\(aq and back\\eslashes"));
    EXPECT_THAT(page, HasSubstr(".SS hbf go far\n"));
    EXPECT_THAT(page, HasSubstr("\\fB\\-f\\fR, \\fB\\-\\-flag\\fR\n"));
    EXPECT_THAT(page, HasSubstr("\\fBhbf go\\fR [\\fIOPTION\\fR...] \\fIFILE\\fR\n"));
    EXPECT_THAT(page, Not(HasSubstr("secret")));
    for (const ConfigKey &key : config_keys()) {
        EXPECT_THAT(page, HasSubstr("\\fB" + std::string(key.environment) + "\\fR\n")) << key.name;
        EXPECT_THAT(page, HasSubstr(roff_text(key.doc))) << key.name;
    }
    EXPECT_THAT(page, HasSubstr("/etc/hbf/hbf.toml"));
    EXPECT_THAT(page, HasSubstr("\\(ti/.config/hbf/hbf.toml"));
    EXPECT_EQ(page.find("\n\n"), page.npos) << "an empty line is an instruction in roff";
}

TEST(ManPage, IsTheSameWhoeverMakesIt) {
    Targets t;
    const std::string before = program_man_page({sample(t)});
    setenv("XDG_CONFIG_HOME", "/somewhere/else", 1);
    EXPECT_EQ(program_man_page({sample(t)}), before);
    EXPECT_STREQ(getenv("XDG_CONFIG_HOME"), "/somewhere/else");
    unsetenv("XDG_CONFIG_HOME");
}

} // namespace
} // namespace hbf::tools
