// SPDX-License-Identifier: Apache-2.0
// Built programs on disk: used where they are right, and rebuilt, said, and replaced where they are not.
#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/opencl/tests/fake/fixture.hpp"

namespace hbf::opencl {
namespace {

namespace fs = std::filesystem;
constexpr const char *by_source = "begun\nsource copy\n", *by_binary = "binary copy\n";

class ProgramCacheTest : public OnFake {
protected:
    // A new process, as far as kernels know: where "copy/1" came from, after it did its work right.
    std::string use() {
        const auto context = open_context();
        const auto kernels = open_kernels(*context);
        const std::string origin = find(*kernels, "copy/1").origin;
        EXPECT_TRUE(CopyByKernel(*context, *kernels).copies(77));
        return origin;
    }
    // As use(), from its text, with one line in the log that has these words.
    void expect_rebuilt(const std::string &said) {
        forget_log();
        forget_builds();
        EXPECT_EQ(use(), "built at run time") << said;
        EXPECT_NE(builds().find(by_source), std::string::npos) << builds();
        EXPECT_NE(logged().find(said), std::string::npos) << logged();
        EXPECT_EQ(log_lines(), 1u) << logged();
    }
    void expect_kept() {
        forget_log();
        forget_builds();
        EXPECT_EQ(use(), "built at run time, from the cache");
        EXPECT_EQ(builds(), by_binary);
        EXPECT_EQ(logged(), "");
    }
};

mode_t mode_of(const fs::path &path) {
    struct stat facts = {};
    return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

TEST_F(ProgramCacheTest, ASecondInstanceDoesNotCompile) {
    EXPECT_EQ(use(), "built at run time");
    ASSERT_EQ(cached().size(), 1u);
    EXPECT_EQ(mode_of(cached()[0]), 0600u);
    EXPECT_EQ(mode_of(cache_folder()), 0700u);
    expect_kept();
}

TEST_F(ProgramCacheTest, WhatAProgramDependsOnIsInItsKey) {
    use();
    for (const char *change : {"driver=1.1", "name=Another", "version=OpenCL 3.0 another", "version=OpenCL 1.2 fake"}) {
        behave(change);
        forget_builds();
        EXPECT_EQ(use(), "built at run time") << change;
        EXPECT_EQ(builds(), by_source);
    }
    EXPECT_EQ(cached().size(), 5u);
    const Ability ability = read_ability(library(), first_device().device);
    const auto key = [&](std::string_view source, std::string_view options) {
        return ProgramCache::key(ability, source, options);
    };
    EXPECT_NE(key("a", "b"), key("a", "c"));
    EXPECT_NE(key("a", "b"), key("b", "b"));
    EXPECT_NE(key("a", "b\n1:c"), key("c", "a\n1:b"));
}

TEST_F(ProgramCacheTest, ADamagedFileIsNotUsedAndReplaced) {
    use();
    const fs::path file = cached().at(0);
    const std::string good = hostile::read_bytes(file);
    std::vector<std::string> broken = {
        good.substr(0, good.size() - 1), good.substr(0, good.size() / 2), good.substr(0, 30), good + "x", "x",
        std::string(100000, '\0')};
    for (size_t at = 0; at < good.size(); at += good.size() / 13) { // a bit, everywhere
        broken.push_back(good);
        broken.back()[at] = static_cast<char>(broken.back()[at] ^ 4);
    }
    for (const std::string &one : broken) {
        hostile::write_bytes(file, one);
        expect_rebuilt("kernel copy/1: what the opencl cache has of it is not used");
        expect_kept();
    }
    hostile::write_bytes(file, "");
    expect_rebuilt("has 0 bytes");
    EXPECT_EQ(cached().size(), 1u) << "nothing is left behind";
}

TEST_F(ProgramCacheTest, AFileOfAnotherDriverIsNotUsed) {
    use();
    const fs::path old = cached().at(0);
    behave("driver=2.0");
    use();
    for (const fs::path &file : cached())
        if (file != old) fs::copy_file(old, file, fs::copy_options::overwrite_existing);
    expect_rebuilt("it is for another kernel, device or driver");
}

TEST_F(ProgramCacheTest, WhatTheDriverDoesNotTakeIsCompiledAnew) {
    use();
    behave("binary=refuse");
    expect_rebuilt("CL_INVALID_BINARY (-42)");
    behave("binary=late");
    expect_rebuilt("CL_BUILD_PROGRAM_FAILURE (-11)");
    behave("");
    expect_kept();
}

TEST_F(ProgramCacheTest, AFileThatOthersCouldWriteIsNotUsed) {
    use();
    chmod(cached().at(0).c_str(), 0666);
    expect_rebuilt("not a file of this user's alone");
    expect_kept();
}

TEST_F(ProgramCacheTest, ALinkIsNotFollowed) {
    use();
    const fs::path file = cached().at(0), elsewhere = scene.top() / "elsewhere";
    fs::rename(file, elsewhere);
    fs::create_symlink(elsewhere, file);
    expect_rebuilt("symbolic link");
    EXPECT_FALSE(fs::is_symlink(cached().at(0)));
}

TEST_F(ProgramCacheTest, WhereItCannotWriteItSaysSoOnce) {
    use();
    const fs::path file = cached().at(0);
    fs::remove(file);
    fs::create_directories(file / "in the way");
    forget_log();
    const auto context = open_context();
    const auto kernels = open_kernels(*context);
    find(*kernels, "copy/1");
    EXPECT_NE(logged().find("cannot be kept in the opencl cache"), std::string::npos) << logged();
    EXPECT_TRUE(CopyByKernel(*context, *kernels).copies(3));
}

TEST_F(ProgramCacheTest, AFullDiskCostsTimeOnly) {
    ASSERT_NE(std::signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    rlimit before{}, none{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    none.rlim_max = before.rlim_max;
    const auto context = open_context();
    const auto kernels = open_kernels(*context);
    setenv("HBF_FAKE_OPENCL", "", 1); // a trace is a file too
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
    find(*kernels, "copy/1");
    find(*kernels, "pattern_fill/1");
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_NE(logged().find("File too large"), std::string::npos) << logged();
    EXPECT_EQ(log_lines(), 1u) << "said once: " << logged();
    EXPECT_TRUE(CopyByKernel(*context, *kernels).copies(3));
    EXPECT_TRUE(cached().empty());
}

TEST_F(ProgramCacheTest, WithoutAFolderItSaysSoOnce) {
    hostile::write_bytes(scene.top() / "cache", "a file");
    const auto context = open_context();
    const auto kernels = open_kernels(*context);
    EXPECT_NE(logged().find("no opencl cache: "), std::string::npos) << logged();
    find(*kernels, "copy/1");
    find(*kernels, "pattern_fill/1");
    EXPECT_EQ(log_lines(), 1u) << logged();
    EXPECT_TRUE(CopyByKernel(*context, *kernels).copies(3));
}

TEST_F(ProgramCacheTest, ADriverWithoutBinariesIsCompiledEachTime) {
    behave("binary=none");
    use();
    EXPECT_TRUE(cached().empty());
    EXPECT_EQ(use(), "built at run time");
    EXPECT_EQ(logged(), "");
}

// Both have seen that there is nothing in the cache before either stores.
TEST_F(ProgramCacheTest, TwoProcessesThatBuildAtOnceBothGetIt) {
    behave("meet=2");
    pid_t children[2];
    for (pid_t &child : children) {
        child = fork();
        ASSERT_GE(child, 0);
        if (child != 0) continue;
        const std::string origin = use();
        _exit(origin == "built at run time" && log_lines() == 0 && !HasFailure() ? 0 : 1);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    EXPECT_EQ(builds().find("binary"), std::string::npos) << builds();
    ASSERT_EQ(cached().size(), 1u) << "and nothing is left behind";
    behave("");
    expect_kept();
}

} // namespace
} // namespace hbf::opencl
