// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/output/file.hpp"
#include "core/output/json.hpp"
#include "core/output/size.hpp"
#include "core/output/table.hpp"

namespace hbf {
namespace {

namespace fs = std::filesystem;

TEST(Size, BothKindsOfUnits) {
    EXPECT_EQ(*parse_size("64KiB"), 65536u);
    EXPECT_EQ(*parse_size("1GB"), 1000000000u);
    EXPECT_EQ(*parse_size("1GiB"), 1073741824u);
    EXPECT_EQ(*parse_size("1g"), 1073741824u);
    EXPECT_EQ(*parse_size("4096"), 4096u);
    EXPECT_EQ(*parse_size("1.5 GB"), 1500000000u);
    EXPECT_EQ(*parse_size("2kB"), 2000u);
    EXPECT_EQ(*parse_size("0"), 0u);
}

TEST(Size, NonsenseIsRefusedWithTheValue) {
    for (const char *text : {"", "GB", "-1", "1XB", "1.2.3GB", "1e3", "99999999999999999999", "20000000000GB",
                             "18446744073709551615K", "0.5"}) {
        auto size = parse_size(text);
        ASSERT_FALSE(size) << text;
        EXPECT_NE(size.error().find(std::string("'") + text + "'"), std::string::npos) << size.error();
    }
}

TEST(Size, PrintsWhatItCanReadAgain) {
    EXPECT_EQ(format_size(65536), "64 KiB");
    EXPECT_EQ(format_size(256 << 20), "256 MiB");
    EXPECT_EQ(format_size(1500000000), "1.397 GiB");
    EXPECT_EQ(format_size(5), "5 B");
}

TEST(Number, SignificantDigits) {
    EXPECT_EQ(format_significant(312.449), "312.4");
    EXPECT_EQ(format_significant(9.4349), "9.435");
    EXPECT_EQ(format_significant(9.99996), "10.00");
    EXPECT_EQ(format_significant(0.0123456, 3), "0.0123");
    EXPECT_EQ(format_significant(123456, 3), "123456");
    EXPECT_EQ(format_significant(0), "0");
    EXPECT_EQ(format_significant(std::numeric_limits<double>::infinity()), "n/a");
    EXPECT_EQ(format_duration(0.00000512), "5.12 us");
    EXPECT_EQ(parse_number("12"), 12u);
    EXPECT_FALSE(parse_number("+12"));
    EXPECT_FALSE(parse_number("1 2"));
    EXPECT_FALSE(parse_real("nan"));
    EXPECT_FALSE(parse_real("1.5x"));
}

TEST(JsonDocument, KeepsOrderAndTypes) {
    auto json = Json::object({{"z", 1},
                              {"a", Json::array_of(std::vector<double>{1.5})},
                              {"big", UINT64_MAX},
                              {"none", Json(std::optional<int>{})}});
    json.set("inf", std::numeric_limits<double>::infinity()).set("text", "a\"b\xff");
    const auto text = json.dump();
    EXPECT_LT(text.find("\"z\""), text.find("\"a\""));
    auto again = Json::parse(text);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->get("z")->number(), 1);
    EXPECT_EQ(again->get("a")->at(0)->number(), 1.5);
    EXPECT_NE(text.find("18446744073709551615"), std::string::npos);
    EXPECT_FALSE(again->get("inf")->number()); // null
    EXPECT_FALSE(Json::parse("{\"a\":}"));
}

TEST(Table, AlignsByColumnsNotBytes) {
    EXPECT_EQ(format_table({"name", ">GB/s"}, {{"dram0", "9.4"}, {"±", "312.4"}}),
              "name    GB/s\ndram0    9.4\n±      312.4\n");
}

class ResultFile : public testing::Test {
protected:
    void SetUp() override { fs::create_directories(folder); }
    void TearDown() override {
        fs::permissions(folder, fs::perms::owner_all);
        fs::remove_all(folder);
    }
    std::string content(const fs::path &file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    size_t files() { return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator())); }
    fs::path folder = fs::temp_directory_path() / ("hbf-output-" + std::to_string(getpid()));
};

TEST_F(ResultFile, IsReplacedInOneStep) {
    const auto file = folder / "r.json";
    ASSERT_TRUE(write_file(file, "one"));
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    ASSERT_TRUE(write_file(file, "two"));
    EXPECT_EQ(content(file), "two");
    struct stat info = {};
    ASSERT_EQ(stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u); // as it was
    EXPECT_EQ(files(), 1u);
}

TEST_F(ResultFile, ALinkKeepsPointing) {
    const auto file = folder / "real", link = folder / "link";
    ASSERT_TRUE(write_file(file, "one"));
    fs::create_symlink(file, link);
    ASSERT_TRUE(write_file(link, "two"));
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(content(file), "two");
}

TEST_F(ResultFile, AFullDiskIsAnErrorAndTheEarlierFileStays) {
    auto full = write_file("/dev/full", "some");
    ASSERT_FALSE(full);
    EXPECT_NE(full.error().find("'/dev/full'"), std::string::npos);
    EXPECT_NE(full.error().find("No space left"), std::string::npos);
    EXPECT_TRUE(write_file("/dev/null", "some"));
}

TEST_F(ResultFile, PlacesThatCannotBeWrittenAreSaidBefore) {
    EXPECT_TRUE(check_writable(folder / "new"));
    EXPECT_FALSE(fs::exists(folder / "new")); // asking creates nothing
    for (const auto &bad : {folder, folder / "missing" / "file"}) {
        auto ok = check_writable(bad);
        ASSERT_FALSE(ok) << bad;
        EXPECT_NE(ok.error().find(bad.string()), std::string::npos);
    }
    if (geteuid() != 0) {
        fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
        EXPECT_FALSE(check_writable(folder / "new"));
        EXPECT_FALSE(write_file(folder / "new", "x"));
    }
}

} // namespace
} // namespace hbf
