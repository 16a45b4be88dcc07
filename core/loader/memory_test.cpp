// SPDX-License-Identifier: Apache-2.0
// Plugins are looked for while memory runs out, at every place in turn: an error each time, and the process lives.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "core/common/guarded.hpp"
#include "core/fabric/testing/allocations.hpp"
#include "core/loader/search.hpp"
#include "hbf/selection.hpp"

namespace hbf::loader {
namespace {

namespace fs = std::filesystem;

class Memory : public ::testing::Test {
protected:
    void SetUp() override {
        // Long names, so that each is an allocation.
        std::string pattern = (fs::temp_directory_path() / "hbf-memory-of-the-search-for-plugins-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder = pattern;
        fs::create_directory(folder / "a folder below the first one, with a long name");
        for (const char *name : {"a plugin that no manifest speaks for.so", "a broken one, see its manifest.plugin.toml",
                                 "a folder below the first one, with a long name/yet another of them.plugin.toml"})
            std::ofstream(folder / name) << "name = 1\n";
    }
    void TearDown() override {
        hbf::testing::fail_allocation(0);
        fs::remove_all(folder);
    }
    fs::path folder;
};

TEST_F(Memory, ASearchThatRunsOutOfItIsAnError) {
    const std::vector<SearchFolder> folders = {{folder, true}};
    uint64_t nth = 1;
    for (;; ++nth) {
        hbf::testing::fail_allocation(nth);
        const auto found = guarded([&] { return search(folders); });
        const bool failed = hbf::testing::allocation_failed();
        hbf::testing::fail_allocation(0);
        if (!failed) break;
        ASSERT_FALSE(found) << nth;
        EXPECT_EQ(found.error().code, Code::exhausted) << found.error().message;
    }
    EXPECT_GT(nth, 10u);
}

// Not at every place: there are thousands, and each try reads the machine anew.
TEST_F(Memory, ASelectionThatRunsOutOfItIsAnErrorOrGivesTheSameReasons) {
    ConfigSources sources;
    sources.root = "/nonexistent-root-of-a-test";
    sources.privileged = true;
    sources.api = {{"plugins.path", folder.string()}};
    const auto config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    SelectOptions options;
    options.use_cache = false;
    const auto whole = select_plugins(*config, options);
    ASSERT_TRUE(whole) << whole.error().message;
    ASSERT_EQ(whole->candidates.size(), 2u);
    uint64_t errors = 0;
    for (uint64_t nth = 1;; nth += 1 + nth / 64) {
        hbf::testing::fail_allocation(nth);
        const auto selection = select_plugins(*config, options);
        const bool failed = hbf::testing::allocation_failed();
        hbf::testing::fail_allocation(0);
        if (!failed) break;
        errors += !selection;
        if (!selection) {
            EXPECT_EQ(selection.error().code, Code::exhausted) << nth << ": " << selection.error().message;
            continue;
        }
        ASSERT_EQ(selection->candidates.size(), whole->candidates.size()) << nth;
        for (size_t i = 0; i < whole->candidates.size(); ++i)
            EXPECT_EQ(selection->candidates[i].detail, whole->candidates[i].detail) << nth;
    }
    EXPECT_GT(errors, 10u);
}

} // namespace
} // namespace hbf::loader
