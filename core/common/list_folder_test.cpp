// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "core/common/list_folder.hpp"

namespace hbf {
namespace {

namespace fs = std::filesystem;

class ListFolder : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "hbf-list-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder = pattern;
        for (const char *name : {"b", ".hidden", "a"}) std::ofstream(folder / name) << name;
    }
    void TearDown() override { fs::remove_all(folder); }
    fs::path folder;
};

TEST_F(ListFolder, GivesEveryNameInOrder) {
    const auto names = list_folder(folder, 3);
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_EQ(*names, (std::vector<std::string>{".hidden", "a", "b"}));
}

TEST_F(ListFolder, RefusesMoreThanAllowed) {
    const auto names = list_folder(folder, 2);
    ASSERT_FALSE(names);
    EXPECT_EQ(names.error().code, Code::invalid);
    EXPECT_EQ(names.error().message, folder.string() + ": more than 2 entries");
}

TEST_F(ListFolder, NamesTheReason) {
    EXPECT_EQ(list_folder(folder / "missing", 3).error().code, Code::unavailable);
    const auto file = list_folder(folder / "a", 3);
    ASSERT_FALSE(file);
    EXPECT_TRUE(file.error().message.starts_with((folder / "a").string() + ": ")) << file.error().message;
}

} // namespace
} // namespace hbf
