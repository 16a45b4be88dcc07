// SPDX-License-Identifier: Apache-2.0
// Whoever starts a set-uid program must not be able to steer what it loads.
#include <cstdio>
#include <memory>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/loader/hostile/scene.hpp"

namespace hbf {
namespace {

using hostile::Scene;
namespace fs = std::filesystem;

constexpr uint32_t other_user = 12345;

std::string output_of(const std::string &command) {
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    char block[4096];
    while (pipe) {
        const size_t count = fread(block, 1, sizeof block, pipe.get());
        if (count == 0) break;
        text.append(block, count);
    }
    return text;
}

bool has(const std::string &text, const std::string &words) {
    return text.find(words) != std::string::npos;
}

// An installation of its own, and an environment that points elsewhere.
class Privilege : public testing::Test {
protected:
    Privilege() {
        program = scene.folder("lib") / "program";
        fs::copy_file(HBF_PRIVILEGED_PROGRAM, program);
        fs::copy_file(HBF_PROBE_PROGRAM, scene.folder("lib/hbf") / "hbf-probe");
        scene.plugin(scene.folder("lib/hbf/plugins"), "good");
        scene.plugin(scene.top() / "lib/hbf/plugins", "missing_dependency", "missing_dependency.so");
        scene.plugin(scene.folder("elsewhere"), "evil");
        fs::copy_file(hostile::built() / "libhostile-absent.so", scene.top() / "elsewhere/libhostile-absent.so");
        chmod(scene.top().c_str(), 0755);
    }
    std::string run(const std::string &settings) {
        return output_of("env -i PATH=/usr/bin:/bin " + settings + " " + program.string() + " 2>&1");
    }
    std::string elsewhere() const { return (scene.top() / "elsewhere").string(); }

    Scene scene;
    fs::path program;
};

TEST_F(Privilege, WithoutItTheEnvironmentCounts) {
    const std::string text = run("HBF_PLUGIN_PATH=" + elsewhere());
    EXPECT_TRUE(has(text, "privileged 0")) << text;
    EXPECT_TRUE(has(text, "plugin evil selected")) << text;
    EXPECT_FALSE(has(text, "plugin good")) << text;
    EXPECT_TRUE(has(run(""), "plugin missing_dependency missing_dependency"));
    EXPECT_FALSE(has(run("LD_LIBRARY_PATH=" + elsewhere()), "plugin missing_dependency missing_dependency"));
}

TEST_F(Privilege, SetUidIgnoresTheEnvironment) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make a program set-uid to another user";
    ASSERT_EQ(chown(program.c_str(), other_user, other_user), 0);
    ASSERT_EQ(chmod(program.c_str(), 04755), 0);
    const fs::path cache = scene.folder("cache", 0700);
    const std::string text =
        run("HBF_PLUGIN_PATH=" + elsewhere() +
            " HBF_PLUGINS=^good HBF_PLUGIN_PIN=evil HBF_ALLOW_UNTRUSTED=true LD_LIBRARY_PATH=" + elsewhere() +
            " XDG_CACHE_HOME=" + cache.string());
    if (has(text, "privileged 0")) GTEST_SKIP() << "the folder for temporary files is mounted nosuid";
    EXPECT_TRUE(has(text, "privileged 1")) << text;
    EXPECT_TRUE(has(text, "plugin good selected")) << text;
    EXPECT_FALSE(has(text, "evil")) << text;
    EXPECT_TRUE(has(text, "plugin missing_dependency missing_dependency")) << text;
    EXPECT_TRUE(has(text, "ignored")) << text;
    EXPECT_TRUE(fs::is_empty(cache)) << "no cache in a privileged process";
}

} // namespace
} // namespace hbf
