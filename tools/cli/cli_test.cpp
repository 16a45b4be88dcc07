// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/output/json.hpp"
#include "core/output/stream.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/failure.hpp"

namespace hbf::tools {
namespace {

struct Settings {
    bool flag = false;
    uint64_t size = 0, number = 0;
    double real = 0;
    std::vector<std::string> tiers;
    std::string choice = "a", file;
    int ran = 0;
};

class CommandLine : public testing::Test {
protected:
    int run(std::vector<const char *> arguments) {
        arguments.insert(arguments.begin(), "hbf");
        s = {};
        Command go{"go", "goes", "", "  hbf go", {}, {}, [this] { return ++s.ran, 42; }};
        go.options = {{"--flag", &s.flag, "", "a flag"},
                      {"--size", Bytes{&s.size, 4096}, "BYTES", "a size"},
                      {"--number", Number{&s.number, 1, 10}, "N", "a number"},
                      {"--real", Real{&s.real, 0, 1}, "X", "a share"},
                      {"--tier,--mode", &s.tiers, "NAME", "tiers"},
                      {"--choice", Choice{&s.choice, {"fast", "slow"}}, "WORD", "one of"},
                      {"FILE", &s.file, "", "a file"}};
        Command child{"show", "shows", "", "", {{"--origin", &s.flag, "", "origin"}}, {}, [this] { return ++s.ran, 7; }};
        Command parent{"config", "settings", "", "", {}, {child}, {}};
        testing::internal::CaptureStderr();
        testing::internal::CaptureStdout();
        int code = run_command_line({go, parent}, static_cast<int>(arguments.size()), arguments.data());
        err = testing::internal::GetCapturedStderr();
        out = testing::internal::GetCapturedStdout();
        return code;
    }
    bool says(const std::string &part) const { return err.find(part) != std::string::npos; }
    Settings s;
    std::string out, err;
};

TEST_F(CommandLine, OptionsArriveTyped) {
    EXPECT_EQ(run({"go", "--flag", "--size", "1GiB", "--number=3", "--real", "0.5", "--tier", "a", "--mode", "b,c",
                   "--choice", "slow", "in"}),
              42);
    EXPECT_TRUE(s.flag);
    EXPECT_EQ(s.size, uint64_t{1} << 30);
    EXPECT_EQ(s.number, 3u);
    EXPECT_EQ(s.real, 0.5);
    EXPECT_EQ(s.tiers, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(s.choice, "slow");
    EXPECT_EQ(s.file, "in");
}

TEST_F(CommandLine, ChildrenRunAlone) {
    EXPECT_EQ(run({"config", "show", "--origin"}), 7);
    EXPECT_TRUE(s.flag);
    EXPECT_EQ(run({"config"}), 2);
    EXPECT_TRUE(says("a command is needed: show"));
}

TEST_F(CommandLine, WrongLinesAreUsageErrorsThatNameTheRemedy) {
    struct Wrong {
        std::vector<const char *> line;
        std::string expected;
    };
    for (const auto &wrong :
         {Wrong{{"gp"}, "unknown command 'gp' (did you mean \"go\"?)"}, Wrong{{"xyzzy"}, "commands: go, config"},
          Wrong{{"--vresion"}, "did you mean \"--version\""},
          Wrong{{"go", "--sise", "1"}, "unknown option '--sise' (did you mean \"--size\"?)"},
          Wrong{{"go", "--size", "1XB"}, "unknown unit 'XB'"},
          Wrong{{"go", "--size", "1"}, "less than the smallest possible, 4 KiB"}, Wrong{{"go", "--size"}, "--size"},
          Wrong{{"go", "--number", "11"}, "'11' is not a whole number in 1..10"},
          Wrong{{"go", "--number", "-1"}, "--number"}, Wrong{{"go", "--real", "2"}, "'2' is not a number in 0..1"},
          Wrong{{"go", "--choice", "slwo"}, "did you mean \"slow\""}, Wrong{{"go", "a", "b"}, "too many arguments: 'b'"},
          Wrong{{"config", "shwo"}, "unknown command 'shwo' (did you mean \"show\"?)"},
          Wrong{{"config", "show", "extra"}, "unexpected argument 'extra'"},
          Wrong{{"help", "gp"}, "unknown command 'gp'"}}) {
        EXPECT_EQ(run(wrong.line), 2) << wrong.expected;
        EXPECT_TRUE(says(wrong.expected)) << wrong.expected << "\n in: " << err;
        EXPECT_EQ(s.ran, 0);
        EXPECT_EQ(out, "");
    }
}

TEST_F(CommandLine, NothingIsUsageWithHelp) {
    EXPECT_EQ(run({}), 2);
    EXPECT_TRUE(says("config"));
}

TEST_F(CommandLine, HelpAndVersionGoToStdout) {
    for (auto line : {std::vector<const char *>{"help"}, {"--help"}, {"-h"}}) {
        EXPECT_EQ(run(line), 0);
        EXPECT_NE(out.find("settings"), std::string::npos) << out;
    }
    for (auto line : {std::vector<const char *>{"help", "go"}, {"go", "--help"}, {"go", "-h"}}) {
        EXPECT_EQ(run(line), 0);
        EXPECT_NE(out.find("Examples:\n  hbf go"), std::string::npos) << out;
        EXPECT_EQ(s.ran, 0);
    }
    EXPECT_EQ(run({"config", "show", "--help"}), 0);
    EXPECT_NE(out.find("hbf config show"), std::string::npos) << out;
    EXPECT_EQ(run({"--version"}), 0);
    EXPECT_EQ(out.find("hbf "), 0u);
}

TEST_F(CommandLine, ASecondCommandIsNotSwallowed) {
    EXPECT_EQ(run({"go", "config"}), 42);
    EXPECT_EQ(s.file, "config") << "go takes an argument";
    EXPECT_EQ(run({"config", "show", "show"}), 2);
    EXPECT_TRUE(says("unexpected argument 'show'"));
    EXPECT_EQ(run({"x", "go"}), 2);
    EXPECT_TRUE(says("unknown command 'x'"));
}

TEST(Json, AFailureWithoutAReportIsADocument) {
    bool json = false, flag = false;
    Command go{"go", "goes", "", "", {{"--json", &json, "", "json"}, {"--flag", &flag, "", "flag"}}, {}, [&] {
                   print_error("hbf go: nothing \"works\"");
                   return 77;
               }};
    for (const auto &[line, code, word] :
         {std::tuple{std::vector{"hbf", "go", "--json"}, 77, "untested"}, {{"hbf", "go", "--json", "--fag"}, 2, "usage"}}) {
        testing::internal::CaptureStderr();
        testing::internal::CaptureStdout();
        EXPECT_EQ(run_command_line({go}, static_cast<int>(line.size()), line.data()), code);
        const auto err = testing::internal::GetCapturedStderr(), out = testing::internal::GetCapturedStdout();
        const auto document = Json::parse(out);
        ASSERT_TRUE(document) << out;
        EXPECT_TRUE(is_failure_json(out));
        EXPECT_EQ(document->get("exit_code")->whole(), code);
        EXPECT_EQ(document->get("error")->get("code")->text(), word);
        EXPECT_NE(document->get("error")->get("message")->text()->find(code == 2 ? "--fag" : "\"works\""),
                  std::string::npos);
    }
    // Whose --json that is, the command behind "--" says, and it has said it.
    std::vector<std::string> rest;
    Command on{"on", "goes on",       "", "", {{"--json", &json, "", "json"}, {"REST", &rest, "REST", "rest"}},
               {},   [] { return 3; }};
    const char *const line[] = {"hbf", "on", "--", "--json"};
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_command_line({on}, 4, line), 3);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_FALSE(is_failure_json("{\"schema\": \"hbf.bandwidth\"}"));
    EXPECT_FALSE(is_failure_json("text"));
}

} // namespace
} // namespace hbf::tools
