// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/common/cache_folder.hpp"

namespace hbf {
namespace {

class CacheFolderTest : public ::testing::Test {
protected:
    CacheFolderTest() {
        std::string pattern = std::filesystem::temp_directory_path() / "hbf-cache-XXXXXX";
        if (!mkdtemp(pattern.data())) std::abort();
        top = pattern;
        setenv("XDG_CACHE_HOME", top.c_str(), 1);
        folder = CacheFolder::open("test", notes);
    }
    ~CacheFolderTest() override {
        unsetenv("XDG_CACHE_HOME");
        std::filesystem::remove_all(top);
    }
    size_t files() const {
        size_t count = 0;
        for (const auto &entry : std::filesystem::directory_iterator(top / "hbf/test")) count += entry.exists() ? 1 : 0;
        return count;
    }

    std::filesystem::path top;
    std::vector<std::string> notes;
    CacheFolder folder;
};

TEST_F(CacheFolderTest, TellsWhatIsNotThereFromWhatIsNoGood) {
    ASSERT_TRUE(folder);
    EXPECT_TRUE(notes.empty());
    EXPECT_EQ(folder.read("a", 10).error().code, Code::unavailable);
    ASSERT_TRUE(folder.write("a", "some bytes", 10));
    EXPECT_EQ(folder.read("a", 10).value(), "some bytes");
    EXPECT_EQ(folder.read("a", 9).error().code, Code::invalid) << "too large";
    ASSERT_TRUE(folder.write("a", "others", 10));
    EXPECT_EQ(folder.read("a", 10).value(), "others");
    chmod((top / "hbf/test/a").c_str(), 0620);
    EXPECT_EQ(folder.read("a", 10).error().code, Code::invalid);
    EXPECT_EQ(CacheFolder().read("a", 10).error().code, Code::unavailable);
    EXPECT_FALSE(CacheFolder().write("a", "b", 10)) << "off";
}

// A file is there in full or not at all, and nobody is told that it failed because another one was quicker.
TEST_F(CacheFolderTest, ManyWriteTheSameFileAtOnce) {
    std::array<std::thread, 4> writers;
    std::atomic<int> refused{0}, torn{0};
    for (size_t i = 0; i < writers.size(); ++i)
        writers[i] = std::thread([&, i] {
            const std::string mine(20000 + i, static_cast<char>('a' + i));
            for (int turn = 0; turn < 300; ++turn) {
                if (!folder.write("a", mine, 10)) ++refused;
                const auto got = folder.read("a", 100000);
                if (got && got->find_first_not_of((*got)[0]) != std::string::npos) ++torn;
                if (got && got->size() != 20000 + static_cast<size_t>((*got)[0] - 'a')) ++torn;
            }
        });
    for (std::thread &writer : writers) writer.join();
    EXPECT_EQ(refused, 0);
    EXPECT_EQ(torn, 0);
    EXPECT_EQ(files(), 1u);
}

} // namespace
} // namespace hbf
