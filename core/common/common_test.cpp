// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/common/environment.hpp"
#include "core/common/read_file.hpp"
#include "core/common/suggest.hpp"
#include "core/common/toml.hpp"

namespace fs = std::filesystem;
using namespace hbf;

namespace {

class ReadFile : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "hbf-read-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        dir = pattern;
    }
    void TearDown() override { fs::remove_all(dir); }
    fs::path write(const std::string &name, const std::string &text) {
        std::ofstream(dir / name, std::ios::binary) << text;
        return dir / name;
    }
    fs::path dir;
};

TEST_F(ReadFile, GivesTheWholeFileAndItsFacts) {
    const std::string text(10000, 'x');
    struct stat facts = {};
    const auto got = read_file(write("a", text), 10000, &facts);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*got, text);
    EXPECT_EQ(facts.st_uid, geteuid());
}

TEST_F(ReadFile, RefusesWhatIsLargerThanAllowed) {
    const auto got = read_file(write("a", std::string(4097, 'x')), 4096);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::invalid);
    EXPECT_NE(got.error().message.find("larger than 4096 bytes"), std::string::npos) << got.error().message;
}

TEST_F(ReadFile, NamesTheReason) {
    EXPECT_EQ(read_file(dir / "missing", 10).error().code, Code::unavailable);
    EXPECT_EQ(read_file(dir, 10).error().code, Code::invalid);
    fs::create_symlink("loop", dir / "loop");
    EXPECT_EQ(read_file(dir / "loop", 10).error().code, Code::invalid);
    ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
    const auto fifo = read_file(dir / "fifo", 10);
    ASSERT_FALSE(fifo);
    EXPECT_EQ(fifo.error().message, (dir / "fifo").string() + ": not a regular file");
}

TEST_F(ReadFile, SaysWhenItMayNotRead) {
    if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
    const fs::path path = write("a", "secret");
    fs::permissions(path, fs::perms::none);
    EXPECT_EQ(read_file(path, 10).error().code, Code::permission);
}

TEST(Suggest, FindsSlipsOnly) {
    const std::vector<std::string> words = {"plugins.allow", "plugins.path", "plugins.path_add", "host"};
    EXPECT_EQ(nearest_word("plugins.alow", words), "plugins.allow");
    EXPECT_EQ(nearest_word("plugins.paht", words), "plugins.path");
    EXPECT_EQ(nearest_word("hsot", words), "host"); // a swap is one edit
    EXPECT_EQ(nearest_word("nvme", words), "");
    EXPECT_EQ(nearest_word("", words), "");
    EXPECT_EQ(nearest_word(std::string(100000, 'a'), words), "");
    EXPECT_EQ(did_you_mean("hots", words), " (did you mean \"host\"?)");
    EXPECT_EQ(did_you_mean("zzz", words), "");
}

TEST(Toml, KeepsTypesAndPlaces) {
    const auto tree =
        parse_toml("top = 1\n[a.b]\nname = \"x\"\nratio = 0.5\non = true\nlist = [\"p\", 2]\nday = 2020-01-01\n", "f");
    ASSERT_TRUE(tree) << tree.error().message;
    const TomlNode *b = tree->find("a")->find("b");
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(b->find("name")->text, "x");
    EXPECT_EQ(b->find("name")->key_place.line, 3u);
    EXPECT_EQ(b->find("name")->place.column, 8u);
    EXPECT_EQ(b->find("ratio")->type, TomlType::number);
    EXPECT_EQ(b->find("ratio")->text, "0.5");
    EXPECT_EQ(b->find("on")->text, "true");
    EXPECT_EQ(b->find("list")->items.at(1).integer, 2);
    EXPECT_EQ(b->find("day")->type, TomlType::time);
    EXPECT_EQ(b->find("day")->text, "2020-01-01");
    EXPECT_EQ(tree->find("top")->text, "1");
    EXPECT_EQ(tree->find("none"), nullptr);
}

TEST(Toml, ErrorsHaveAPlace) {
    const auto duplicate = parse_toml("a = 1\na = 2\n", "dir/f.toml");
    ASSERT_FALSE(duplicate);
    EXPECT_EQ(duplicate.error().code, Code::invalid);
    EXPECT_EQ(duplicate.error().message.rfind("dir/f.toml:2:", 0), 0u) << duplicate.error().message;
    EXPECT_FALSE(parse_toml("a = \n", "f"));
    EXPECT_FALSE(parse_toml("a = \"\xff\xfe\"\n", "f"));
    const auto binary = parse_toml(std::string_view("a\0b", 3), "f");
    ASSERT_FALSE(binary);
    EXPECT_EQ(binary.error().message, "f: binary data, not TOML (a zero byte at offset 1)");
    EXPECT_FALSE(parse_toml("a = " + std::string(100000, '['), "f")); // depth is bounded, the stack is safe
}

TEST(Toml, EmptyIsAnEmptyTable) {
    const auto tree = parse_toml("", "f");
    ASSERT_TRUE(tree);
    EXPECT_TRUE(tree->items.empty());
}

TEST(Environment, IsGivenToAChildWithChanges) {
    setenv("HBF_CHILD_D", "old", 1);
    setenv("HBF_CHILD_DD", "kept", 1);
    const auto all = environment_changed({"HBF_CHILD_D=new", "HBF_CHILD_E=added"});
    const auto count = [&](const std::string &entry) { return std::count(all.begin(), all.end(), entry); };
    EXPECT_EQ(count("HBF_CHILD_D=new"), 1);
    EXPECT_EQ(count("HBF_CHILD_D=old"), 0);
    EXPECT_EQ(count("HBF_CHILD_DD=kept"), 1);
    EXPECT_EQ(count("HBF_CHILD_E=added"), 1);
}

TEST(Environment, ReadsOneAndMany) {
    if (process_is_privileged()) GTEST_SKIP() << "privileged";
    setenv("HBF_TEST_B", "2", 1);
    setenv("HBF_TEST_A", "", 1);
    unsetenv("HBF_TEST_C");
    EXPECT_EQ(environment("HBF_TEST_B"), "2");
    EXPECT_EQ(environment("HBF_TEST_A"), "");
    EXPECT_EQ(environment("HBF_TEST_C"), std::nullopt);
    const auto all = environment_with_prefix("HBF_TEST_");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].first, "HBF_TEST_A");
    EXPECT_EQ(all[1].second, "2");
}

// Each of these ran out of stack.
TEST(Toml, KeysOfVeryManyPartsAreRefusedWhereTheyStand) {
    std::string key = "a";
    for (int i = 0; i < 250000; ++i) key += ".a";
    const auto error = [](const std::string &text) {
        const auto tree = parse_toml(text, "f");
        return tree ? "" : tree.error().message;
    };
    EXPECT_EQ(error("x = 1\n" + key + " = 1\n"), "f:2:32: a key of more than 16 parts");
    EXPECT_EQ(error("[" + key + "]\n"), "f:1:33: a key of more than 16 parts");
    EXPECT_EQ(error("x = [{" + key + " = 1}]\n").substr(0, 4), "f:1:");
    EXPECT_EQ(error("x = [\"\"\"a\"\"\"\", {" + key + " = 1}]\n").substr(0, 4), "f:1:") << "a quote ends the string";
    std::string quoted = "'a'";
    for (int i = 0; i < 100000; ++i) quoted += i % 2 ? " . \"b\\\"\"" : ".'a'";
    EXPECT_NE(error(quoted + " = 1\n"), "");
    std::string opening, closing; // about the deepest that is left
    for (int i = 0; i < 100; ++i) {
        opening += "[{a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = ";
        closing += "}]";
    }
    EXPECT_EQ(error("x = " + opening + "1" + closing + "\n"), "");
}

TEST(Toml, DotsElsewhereAreNoParts) {
    const std::string dots(1000, '.');
    const auto tree = parse_toml(
        "# " + dots + "\na.b.c = \"" + dots + "\"\nd = '" + dots + "'\ne = \"\"\"\n" + dots + "\\\"\"\"\" # " + dots +
            "\nf = [" +
            [] {
                std::string numbers;
                for (int i = 0; i < 100; ++i) numbers += "1.5, ";
                return numbers;
            }() +
            "]\n",
        "f");
    ASSERT_TRUE(tree) << tree.error().message;
    EXPECT_EQ(tree->find("d")->text, dots);
    EXPECT_EQ(tree->find("f")->items.size(), 100u);
    EXPECT_TRUE(parse_toml("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p = 1\n", "f")) << "16 parts";
}

} // namespace
