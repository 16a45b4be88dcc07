// SPDX-License-Identifier: Apache-2.0
// The plugin as a host finds it, through the whole selection: on machines without a loader, with an old one, without
// platforms, and with platforms that crash, hang or refuse.
#include <cstdlib>

#include <gtest/gtest.h>

#include "core/loader/hostile/scene.hpp"
#include "hbf/selection.hpp"

namespace hbf {
namespace {

namespace fs = std::filesystem;

class FakeProbe : public testing::Test {
protected:
    FakeProbe() {
        // Its manifest, but that what the fake runtime is told reaches the probe's process.
        std::string manifest = hostile::read_bytes(HBF_OPENCL_MANIFEST);
        const std::string key = "environment = [";
        manifest.replace(manifest.find(key), key.size(), key + "\"HBF_FAKE_OPENCL\", ");
        hostile::write_bytes(folder / "opencl.plugin.toml", manifest);
        fs::copy_file(HBF_OPENCL_PLUGIN, folder / "hbf_plugin_opencl.so");
        fs::permissions(folder / "hbf_plugin_opencl.so", fs::perms::owner_all);
        setenv("XDG_CACHE_HOME", scene.folder("cache").c_str(), 1);
        with_loader(HBF_FAKE_FOLDER);
    }
    ~FakeProbe() override {
        for (const char *name : {"LD_LIBRARY_PATH", "HBF_FAKE_OPENCL", "XDG_CACHE_HOME"}) unsetenv(name);
    }

    static void with_loader(const fs::path &libraries) { setenv("LD_LIBRARY_PATH", libraries.c_str(), 1); }

    // What the host says of the plugin where the runtime behaves so.
    const Candidate &probe(const std::string &behaviour = "") {
        setenv("HBF_FAKE_OPENCL", behaviour.c_str(), 1);
        ConfigSources sources;
        sources.root = "/nonexistent-root-of-a-test";
        sources.privileged = true; // neither the user's environment nor their files
        sources.api = {{"plugins.path", folder.string()}};
        const auto config = Config::load(sources);
        SelectOptions options;
        options.use_cache = false;
        options.open = false;
        auto made = config ? select_plugins(*config, options) : tl::unexpected(config.error());
        if (!made || made->candidates.size() != 1)
            throw std::runtime_error(made ? "not one candidate" : made.error().message);
        selection_ = std::move(*made);
        return selection_.candidates[0];
    }
    void expect(const std::string &behaviour, Reason reason, const std::vector<std::string> &words) {
        const Candidate &found = probe(behaviour);
        EXPECT_EQ(found.reason, reason) << behaviour << ": " << to_string(found.reason) << ": " << found.detail;
        for (const std::string &word : words)
            EXPECT_NE(found.detail.find(word), std::string::npos) << behaviour << ": " << found.detail;
    }
    std::string notes() const {
        std::string all;
        for (const std::string &note : selection_.notes) all += note + "\n";
        return all;
    }

    hostile::Scene scene;
    const fs::path folder = scene.folder("plugins");

private:
    Selection selection_;
};

TEST_F(FakeProbe, AGoodPlatformServes) {
    const Candidate &found = probe("platforms=2;devices=2");
    EXPECT_EQ(found.reason, Reason::selected) << found.detail;
    ASSERT_EQ(found.devices.size(), 4u);
    for (const ProbedDevice &device : found.devices) {
        EXPECT_FALSE(device.tiers.empty()) << device.id << ": " << device.detail;
        EXPECT_FALSE(device.on_cpu);
    }
    EXPECT_EQ(notes().find("Fake"), std::string::npos) << notes();
}

TEST_F(FakeProbe, WithoutALoaderTheDriverIsAbsent) {
    // What the dynamic linker makes of a name it cannot open, wherever this machine has the real one.
    hostile::write_bytes(scene.folder("broken") / "libOpenCL.so.1", "not a library");
    with_loader(scene.top() / "broken");
    expect("", Reason::driver_absent, {"libOpenCL.so.1", "remedy: install"});
}

TEST_F(FakeProbe, AnOldLoaderIsTooOld) {
    with_loader(HBF_FAKE_OLD_FOLDER);
    expect("", Reason::driver_too_old, {"libOpenCL.so.1", "clGetPlatformInfo", "remedy: a newer"});
}

TEST_F(FakeProbe, ALoaderWithoutPlatformsHasNoDriver) {
    expect("platforms=0", Reason::driver_absent, {"no platform", "remedy: install"});
}

TEST_F(FakeProbe, APlatformWithoutDevicesIsNamed) {
    expect("devices=0", Reason::no_device, {"Fake platform 0", "no device"});
}

TEST_F(FakeProbe, APlatformThatCrashesIsNamed) {
    expect("crash=0", Reason::no_device, {"Fake platform 0", "crashed", "SIGSEGV"});
}

TEST_F(FakeProbe, APlatformThatRefusesIsNamed) {
    expect("error=0", Reason::no_device, {"Fake platform 0", "CL_OUT_OF_HOST_MEMORY (-6)"});
}

TEST_F(FakeProbe, ALoaderThatCrashesTakesNothingWithIt) {
    const Candidate &found = probe("die=clGetPlatformIDs");
    EXPECT_TRUE(found.reason == Reason::probe_failed || found.reason == Reason::probe_crashed) << found.detail;
    EXPECT_NE(found.detail.find("SIGSEGV"), std::string::npos) << found.detail;
}

// The bad one is said, the good one serves.
TEST_F(FakeProbe, ABadPlatformHidesNoOther) {
    for (const auto &[behaviour, words] : {std::pair("platforms=2;crash=0", "Fake platform 0\" crashed"),
                                           std::pair("platforms=2;crash=1", "Fake platform 1\" crashed"),
                                           std::pair("platforms=2;hang=0", "Fake platform 0\" did not answer in time"),
                                           std::pair("platforms=2;error=1", "Fake platform 1\": clGetDeviceIDs")}) {
        const Candidate &found = probe(behaviour);
        EXPECT_EQ(found.reason, Reason::selected) << behaviour << ": " << found.detail;
        EXPECT_EQ(found.devices.size(), 1u) << behaviour;
        EXPECT_NE(notes().find(words), std::string::npos) << behaviour << ": " << notes();
    }
}

TEST_F(FakeProbe, ADeviceOnTheCpuSaysSo) {
    const Candidate &found = probe("type=cpu");
    ASSERT_EQ(found.devices.size(), 1u) << found.detail;
    EXPECT_TRUE(found.devices[0].on_cpu);
    EXPECT_NE(found.devices[0].name.find("CPU"), std::string::npos) << found.devices[0].name;
}

TEST_F(FakeProbe, ADeviceThatDoesNotOpenSaysWhy) {
    const Candidate &found = probe("fail=clCreateContext:-2");
    EXPECT_EQ(found.reason, Reason::create_failed) << found.detail;
    EXPECT_NE(found.detail.find("CL_DEVICE_NOT_AVAILABLE (-2)"), std::string::npos) << found.detail;
}

} // namespace
} // namespace hbf
