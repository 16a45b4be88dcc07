// SPDX-License-Identifier: Apache-2.0
// Which devices there are, why there are none, and what the plugin may be told.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "core/loader/hostile/scene.hpp"
#include "plugins/nvidia/discovery.hpp"
#include "plugins/nvidia/installed.hpp"
#include "plugins/nvidia/options.hpp"
#include "plugins/nvidia/tests/fake.hpp"

namespace hbf::nvidia {
namespace {

using NvidiaDiscovery = OnFake;

TEST_F(NvidiaDiscovery, TellsWhatTheDriverSays) {
    const hostile::Scene scene;
    const std::filesystem::path pci = scene.top() / "sys/bus/pci/devices/0000:3b:00.0";
    std::filesystem::create_directories(pci);
    std::ofstream(pci / "numa_node") << "1\n";
    const Survey found = ask_here(driver, scene.top());
    ASSERT_EQ(found.devices.size(), 1u);
    const hbf_device_info &info = found.devices[0].info;
    EXPECT_STREQ(info.id, "gpu-0000:3b:00.0");
    EXPECT_STREQ(info.pci_address, "0000:3b:00.0");
    EXPECT_STREQ(info.driver, "CUDA 12.8");
    EXPECT_EQ(info.numa_node, 1);
    EXPECT_EQ(info.reality, HBF_REALITY_REAL);
    EXPECT_EQ(numa_node(scene.top(), "0000:01:00.0"), -1);
}

TEST_F(NvidiaDiscovery, OneBadDeviceDoesNotHideTheRest) {
    fake().devices.resize(3);
    fake().devices[1].attributes[cuda::compute_mode] = 2;
    fake().devices[2].attributes[cuda::unified_addressing] = 0;
    const Survey found = ask_here(driver, "");
    EXPECT_EQ(found.devices.size(), 1u);
    ASSERT_EQ(found.troubles.size(), 2u);
    EXPECT_NE(found.troubles[0].find("Prohibited"), std::string::npos) << found.troubles[0];
    EXPECT_NE(found.troubles[1].find("unified addressing"), std::string::npos) << found.troubles[1];
}

TEST_F(NvidiaDiscovery, EachFailureOfTheDriverHasItsReason) {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    const hostile::Scene scene;
    const std::string root = scene.top();
    struct {
        cuda::Result code;
        const char *word, *detail;
        hbf_status status = HBF_UNAVAILABLE;
    } cases[] = {{cuda::no_device, "no_device: ", "lspci"},
                 {cuda::stub_library, "driver_stub: ", "LD_LIBRARY_PATH"},
                 {cuda::driver_mismatch, "driver_too_old: ", "different releases", HBF_UNSUPPORTED},
                 {cuda::compat_unsupported, "driver_too_old: ", "cuda-compat", HBF_UNSUPPORTED},
                 {cuda::system_not_ready, "no_device: ", "nvidia-fabricmanager"},
                 {cuda::mps_failed, "no_device: ", "MPS server does not answer"},
                 {cuda::mps_not_ready, "no_device: ", "MPS server is not ready"},
                 {cuda::mps_clients, "device_busy: ", "as many clients", HBF_BUSY},
                 {cuda::mps_connections, "device_busy: ", "as many clients", HBF_BUSY},
                 {cuda::device_unavailable, "device_busy: ", "(46)", HBF_BUSY},
                 {cuda::operating_system, "permission_denied: ", "/dev/nvidia*", HBF_PERMISSION},
                 {cuda::unknown, "no_device: ", "nvidia-uvm"},
                 {4242, "no_device: ", "(4242)"}};
    for (const auto &[code, word, detail, status] : cases) {
        fake().init = code;
        const sdk::Failure failure = refusal([&] { (void)ask_here(driver, root); });
        EXPECT_EQ(failure.status, status) << code;
        EXPECT_TRUE(failure.message.starts_with(word)) << failure.message;
        EXPECT_NE(failure.message.find(detail), std::string::npos) << failure.message;
    }
    fake().init = cuda::success;
    fake().devices.clear();
    EXPECT_TRUE(refusal([&] { (void)ask_here(driver, root); }).message.starts_with("no_device: "));
    ::setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    EXPECT_NE(refusal([&] { (void)ask_here(driver, root); }).message.find("CUDA_VISIBLE_DEVICES=\"7\""), std::string::npos);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(NvidiaDiscovery, ANodeThatMayNotBeOpenedIsNamed) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may open everything";
    const hostile::Scene scene;
    std::filesystem::create_directories(scene.top() / "dev");
    std::ofstream(scene.top() / "dev/nvidiactl") << "";
    std::filesystem::permissions(scene.top() / "dev/nvidiactl", std::filesystem::perms::none);
    fake().init = cuda::no_device;
    const sdk::Failure failure = refusal([&] { (void)ask_here(driver, scene.top()); });
    EXPECT_EQ(failure.status, HBF_PERMISSION);
    EXPECT_NE(failure.message.find("dev/nvidiactl"), std::string::npos) << failure.message;
}

TEST_F(NvidiaDiscovery, WhatIsHalfInstalledOrHeldByAnotherDriverIsSaid) {
    const hostile::Scene scene;
    const std::string root = scene.top();
    const sdk::Failure absent{HBF_UNAVAILABLE, "driver_absent: no file"}, old{HBF_UNSUPPORTED, "driver_too_old: 11.8"};
    EXPECT_EQ(module_release(root) + held_elsewhere(root), "");
    EXPECT_EQ(open_failure(absent, root).message, absent.message);
    const auto add = [&](const char *address, const char *vendor, const char *kind, const std::string &by) {
        const std::filesystem::path pci = scene.top() / "sys/bus/pci/devices" / address;
        std::filesystem::create_directories(pci);
        std::ofstream(pci / "vendor") << vendor << "\n";
        std::ofstream(pci / "class") << kind << "\n";
        if (!by.empty()) std::filesystem::create_symlink("../../../bus/pci/drivers/" + by, pci / "driver");
    };
    add("0000:3b:00.0", "0x10de", "0x030200", "nvidia");
    add("0000:3b:00.1", "0x10de", "0x040300", "snd_hda_intel");
    add("0000:04:00.0", "0x1002", "0x030000", "amdgpu");
    EXPECT_EQ(held_elsewhere(root), "");
    add("0000:5e:00.0", "0x10de", "0x030200", "nouveau");
    add("0000:86:00.0", "0x10de", "0x030000", "");
    EXPECT_EQ(held_elsewhere(root),
              "0000:5e:00.0 belongs to the kernel driver nouveau, 0000:86:00.0 belongs to no driver of the kernel");
    EXPECT_NE(open_failure(absent, root).message.find("nouveau"), std::string::npos);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    fake().init = cuda::no_device;
    EXPECT_NE(refusal([&] { (void)ask_here(driver, root); }).message.find("nouveau"), std::string::npos);
    std::filesystem::create_directories(scene.top() / "sys/module/nvidia");
    std::ofstream(scene.top() / "sys/module/nvidia/version") << "580.65.06\n";
    EXPECT_NE(open_failure(absent, root).message.find("580.65.06"), std::string::npos);
    EXPECT_EQ(open_failure(old, root).message, old.message);
    fake().init = cuda::driver_mismatch;
    EXPECT_NE(refusal([&] { (void)ask_here(driver, root); }).message.find("580.65.06"), std::string::npos);
}

TEST_F(NvidiaDiscovery, ADeviceIsChosenByAnyOfItsNames) {
    fake().devices.resize(2);
    fake().devices[1].name = "Other Card", fake().devices[1].pci = "0000:5E:00.0";
    const Survey all = ask_here(driver, "");
    for (const char *name : {"1", "other", "gpu-0000:5e:00.0", "0000:5E:00.0", "02020202-0202-0202-0202-020202020202",
                             "GPU-02020202-0202-0202-0202-020202020202"}) {
        const std::vector<Found> found = select(all, name);
        ASSERT_EQ(found.size(), 1u) << name;
        EXPECT_EQ(found[0].ordinal, 1) << name;
    }
    EXPECT_EQ(select(all, "").size(), 2u);
    const sdk::Failure none = refusal([&] { (void)select(all, "third"); });
    EXPECT_EQ(none.status, HBF_UNAVAILABLE);
    EXPECT_NE(none.message.find("Other Card"), std::string::npos) << none.message;
}

TEST(NvidiaOptions, AreParsedAndBadOnesNamed) {
    const Options good =
        parse_options({{"device", "0"}, {"hbm_bytes", "1GiB"}, {"peers", "off"}, {"persisting_l2", "4MiB"}});
    EXPECT_EQ(good.hbm_bytes, uint64_t{1} << 30);
    EXPECT_EQ(good.peers, Choice::off);
    EXPECT_EQ(good.persisting_l2, uint64_t{4} << 20);
    const auto refused = [](const char *key, const char *value, const char *why) {
        try {
            (void)parse_options({{key, value}});
            ADD_FAILURE() << key << " was taken";
        } catch (const sdk::Failure &failure) {
            EXPECT_EQ(failure.status, HBF_INVALID);
            EXPECT_NE(failure.message.find(key), std::string::npos) << failure.message;
            EXPECT_NE(failure.message.find(why), std::string::npos) << failure.message;
        }
    };
    refused("hbm_byte", "1GiB", "hbm_bytes");
    refused("hbm_bytes", "many", "many");
    refused("pinned_bytes", "1KiB", "2 MiB");
    refused("peers", "maybe", "auto or off");
    refused("device", "", "ordinal");
}

} // namespace
} // namespace hbf::nvidia
