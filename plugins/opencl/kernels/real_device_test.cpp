// SPDX-License-Identifier: Apache-2.0
// The cache of programs with a driver that nobody here wrote: what it gives as a program's binary it takes again, also where
// two processes build at once.
#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/loader/hostile/scene.hpp"
#include "hbf/sdk/failure.hpp"
#include "plugins/opencl/discovery.hpp"
#include "plugins/opencl/kernels/testing.hpp"

namespace hbf::opencl {
namespace {

namespace fs = std::filesystem;

class RealDevice : public ::testing::Test {
protected:
    RealDevice() {
        setenv("XDG_CACHE_HOME", scene.folder("cache").c_str(), 1);
        setenv("POCL_CACHE_DIR", scene.folder("pocl").c_str(), 1); // each build is one
    }
    // Asks in a process of its own: this one stays fit to fork.
    void SetUp() override {
        try {
            all = survey();
        } catch (const sdk::Failure &failure) {
            GTEST_SKIP() << failure.message;
        }
    }
    // Where "copy/1" came from, once it has done its work; "" where that went wrong.
    std::string use() {
        const OpenedDevice device = open_device(library(), all.devices.front(), all);
        const Context context(library(), device.platform, device.device);
        DeviceKernels kernels(context.cl, context.context.get(), context.device, sdk::Log());
        hbf_kernel_info info{};
        kernels.find("copy/1", info);
        return CopyByKernel(context, kernels).copies(1u << 20) ? info.origin : "";
    }
    fs::path cached() const {
        std::vector<fs::path> files;
        for (const auto &entry : fs::directory_iterator(scene.top() / "cache/hbf/opencl")) files.push_back(entry.path());
        return files.size() == 1 ? files[0] : fs::path();
    }

    hostile::Scene scene;
    Survey all;
};

TEST_F(RealDevice, BuildsOnceForAllProcesses) {
    pid_t children[2];
    for (pid_t &child : children) {
        child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) _exit(use().empty() ? 1 : 0); // from the text or, where the other one was quicker, from the cache
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    if (!fs::exists(cached())) GTEST_SKIP() << "this driver gives no binaries";
    EXPECT_EQ(use(), "built at run time, from the cache");
    std::string bytes = hostile::read_bytes(cached());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    hostile::write_bytes(cached(), bytes);
    EXPECT_EQ(use(), "built at run time") << "a bit has changed";
    EXPECT_EQ(use(), "built at run time, from the cache") << "it was replaced";
}

} // namespace
} // namespace hbf::opencl
