// SPDX-License-Identifier: Apache-2.0
// Runtimes that are not there, are something else, or lack a function: each in a process of its own, since the dynamic
// linker looks at LD_LIBRARY_PATH once.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "plugins/amd/tests/emulated/scene.hpp"

namespace hbf::amd {
namespace {

namespace fs = std::filesystem;

// Run by the others, in a process that finds what they put there.
TEST(AmdLibrary, DISABLED_Tell) {
    try {
        std::printf("TOLD %zu devices of %s\n", ask_here("").devices.size(), library().name.c_str());
    } catch (const sdk::Failure &failure) {
        std::printf("TOLD %d %s\n", static_cast<int>(failure.status), failure.message.c_str());
    }
}

std::string told(const fs::path &folder) {
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    const std::string command = fmt::format("LD_LIBRARY_PATH='{}' '{}' --gtest_also_run_disabled_tests "
                                            "--gtest_filter=AmdLibrary.DISABLED_Tell 2>&1",
                                            folder.string(), self);
    FILE *const from = ::popen(command.c_str(), "r");
    if (!from) return "it was not started";
    std::string out;
    std::array<char, 4096> part{};
    while (const size_t size = std::fread(part.data(), 1, part.size(), from)) out.append(part.data(), size);
    ::pclose(from);
    const size_t at = out.find("TOLD ");
    return at == std::string::npos ? out : out.substr(at + 5, out.find('\n', at) - at - 5);
}

class AmdLibraries : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "hbf-amd-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder = pattern;
    }
    void TearDown() override { fs::remove_all(folder); }
    void file(const char *name, const std::string &text) const { std::ofstream(folder / name) << text; }
    fs::path folder;
};

TEST_F(AmdLibraries, ThatLackAFunctionAreTooOldAndItIsNamed) {
    const std::string said = told(HBF_AMD_LACKING);
    EXPECT_EQ(said.rfind(fmt::format("{} driver_too_old: libamdhip64.so.6 lacks", HBF_UNSUPPORTED), 0), 0u) << said;
    EXPECT_NE(said.find("hipEventQuery"), std::string::npos) << said;
    EXPECT_NE(said.find("remedy"), std::string::npos) << said;
}

TEST_F(AmdLibraries, OfTheReleaseBeforeServeToo) {
    const std::string said = told(HBF_AMD_ROCM5);
    EXPECT_EQ(said, "2 devices of libamdhip64.so.5");
}

// This machine may have one of its own, which is then found.
TEST_F(AmdLibraries, ThatAreNotThereOrNoLibrariesAreAbsent) {
    const std::string none = told(folder);
    if (none.find("no HIP runtime") == std::string::npos) GTEST_SKIP() << "this machine has a HIP runtime: " << none;
    EXPECT_EQ(none.rfind(fmt::format("{} driver_absent:", HBF_UNAVAILABLE), 0), 0u) << none;
    EXPECT_NE(none.find("remedy: install"), std::string::npos) << none;
    file("libamdhip64.so.6", "not a library");
    const std::string broken = told(folder);
    EXPECT_EQ(broken.rfind(fmt::format("{} driver_absent:", HBF_UNAVAILABLE), 0), 0u) << broken;
    EXPECT_NE(broken.find("libamdhip64.so.6: "), std::string::npos)
        << "what is there says more than what is not: " << broken;
}

} // namespace
} // namespace hbf::amd
