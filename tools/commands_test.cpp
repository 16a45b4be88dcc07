// SPDX-License-Identifier: Apache-2.0
// What holds for every command of hbf and every child of one.
#include <functional>
#include <regex>

#include <gtest/gtest.h>

#include "tools/cli/parts.hpp"
#include "tools/commands.hpp"
#include "tools/without_root.hpp"

namespace hbf::tools {
namespace {

void each(const std::vector<Command> &commands, const CommandPath &above,
          const std::function<void(const CommandPath &, const Command &)> &visit) {
    for (const Command &one : commands) {
        CommandPath path = above;
        path.push_back(one.name);
        visit(path, one);
        each(one.children, path, visit);
    }
}

void each(const std::function<void(const CommandPath &, const Command &)> &visit) {
    static const auto all = all_commands();
    each(all, {"hbf"}, visit);
}

// The words of the hbf command in a shell's line: up to what the shell takes for itself; quotes part nothing.
std::vector<std::string> hbf_words(const std::string &line) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    bool started = false;
    const auto end_word = [&] {
        if (!word.empty()) words.push_back(word);
        word.clear();
    };
    for (const char c : line) {
        if (quote != 0) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '\'') {
            quote = c;
        } else if (c == ' ' || c == '"' || c == '(') {
            end_word();
        } else if (std::string_view("|>;)&").find(c) != std::string_view::npos) {
            if (started) break;
        } else {
            word += c;
        }
        if (!started && !words.empty() && words.back() == "hbf") {
            words = {"hbf"};
            started = true;
        }
    }
    end_word();
    return started ? words : std::vector<std::string>{};
}

TEST(ShellLine, WordsOfTheCommand) {
    using Words = std::vector<std::string>;
    EXPECT_EQ(hbf_words("A=1 hbf probe --explain"), (Words{"hbf", "probe", "--explain"}));
    EXPECT_EQ(hbf_words("hbf a --pairs 'x->y' > f"), (Words{"hbf", "a", "--pairs", "x->y"}));
    EXPECT_EQ(hbf_words("eval \"$(hbf completion bash)\""), (Words{"hbf", "completion", "bash"}));
    EXPECT_EQ(hbf_words("ls"), Words{});
}

TEST(EveryCommand, HasExamplesThatTheParserTakes) {
    each([](const CommandPath &path, const Command &command) {
        const auto examples = examples_of(command);
        EXPECT_FALSE(examples.empty()) << joined(path);
        for (const Example &example : examples) {
            const auto words = hbf_words(example.line);
            ASSERT_FALSE(words.empty()) << joined(path) << ": no hbf in: " << example.line;
            EXPECT_EQ(command_line_mistake(all_commands(), words), "") << joined(path) << ": " << example.line;
            const std::string line = joined(words);
            EXPECT_TRUE(line.starts_with(joined(path))) << joined(path) << " has an example of another: " << line;
        }
    });
}

TEST(EveryCommand, SaysWhatItIsInOneLine) {
    each([](const CommandPath &path, const Command &command) {
        EXPECT_FALSE(command.summary.empty()) << joined(path);
        EXPECT_EQ(command.summary.find('\n'), command.summary.npos) << joined(path);
        EXPECT_FALSE(command.summary.ends_with('.')) << joined(path) << ": the help puts the full stop";
        EXPECT_LE(command.summary.size(), 100u) << joined(path);
        EXPECT_TRUE(path.size() > 2 || !command.group.empty()) << joined(path) << " has no group in hbf help";
        for (const Option &option : command.options) {
            if (is_hidden(option)) continue;
            EXPECT_FALSE(option.help.empty()) << joined(path) << " " << option.names;
            EXPECT_TRUE(is_flag(option) || !option.value.empty()) << joined(path) << " " << option.names;
        }
    });
}

TEST(EveryCommand, DocumentsItsExitCodesInOnePlace) {
    const std::regex prose("exits with|exit status|exit code", std::regex::icase);
    each([&](const CommandPath &path, const Command &command) {
        const auto exits = exits_of(command);
        EXPECT_GE(exits.size(), 4u) << joined(path);
        EXPECT_FALSE(std::regex_search(command.description, prose)) << joined(path) << ": that is what exits is for";
    });
}

// Reports have a form for programs; what makes text for another program, or runs one, has none.
TEST(EveryCommand, SpeaksJsonUnlessItPrintsAFile) {
    const std::vector<std::string> files = {"hbf completion", "hbf conformance statement", "hbf emulate"};
    each([&](const CommandPath &path, const Command &command) {
        if (!command.run || std::find(files.begin(), files.end(), joined(path)) != files.end()) return;
        const bool json = std::any_of(command.options.begin(), command.options.end(),
                                      [](const Option &option) { return option.names == "--json"; });
        EXPECT_TRUE(json) << joined(path);
    });
}

TEST(WithoutRoot, OneLineNamesWhatWasNotRead) {
    Inventory inventory;
    inventory.root = "/";
    inventory.settings["thp"] = {"always", "/sys/thp", ""};
    inventory.settings["absent"] = {std::nullopt, "/sys/absent", "/sys/absent: No such file or directory"};
    EXPECT_EQ(without_root(inventory), "");
    inventory.settings["acs"] = {std::nullopt, "/sys/x/config",
                                 "/sys/x/config: its extended part cannot be read (only root may)"};
    EXPECT_EQ(without_root(inventory), "note: without root, not read: acs (/sys/x/config)");
    inventory.settings["odd"] = {std::nullopt, "/sys/odd", "/sys/odd: Permission denied"};
    inventory.problems = {"/sys/odd: Permission denied", "/sys/else: Permission denied", "/sys/strange: not a number"};
    EXPECT_EQ(without_root(inventory), "note: without root, not read: acs (/sys/x/config), odd (/sys/odd), 1 file below /");
}

} // namespace
} // namespace hbf::tools
