// SPDX-License-Identifier: Apache-2.0
// Probe, coherence and health facts of a machine that the test brings itself.
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "coherence.hpp"
#include "health.hpp"
#include "machine.hpp"
#include "storage/testing.hpp"

namespace hbf::host {
namespace {

class Machine : public ::testing::Test {
protected:
    void put(const std::string &path, const std::string &text) {
        const std::filesystem::path file = std::filesystem::path(scratch_.path()) / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    std::filesystem::path root() const { return scratch_.path(); }
    std::map<std::string, uint64_t> health() const {
        std::map<std::string, uint64_t> readings;
        for (const hbf_reading &reading : HostHealth(root()).read()) readings[reading.name] = reading.value;
        return readings;
    }

    testing::ScratchDirectory scratch_;
};

TEST_F(Machine, CpuAndKernelAreNamed) {
    put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: X\nmodel name\t: Test CPU 9000 @ 1 GHz\nmodel name\t: other\n");
    put("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    EXPECT_EQ(cpu_model(root()), "Test CPU 9000 @ 1 GHz");
    EXPECT_EQ(kernel_release(root()), "Linux 6.1.0-18-amd64");
}

TEST_F(Machine, ArmNamesNoModel) {
    put("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n");
    EXPECT_EQ(cpu_model(root()), "Arm CPU, implementer 0x41 part 0xd0c");
}

TEST_F(Machine, NothingKnownIsSaidNotGuessed) {
    EXPECT_EQ(cpu_model(root()), "unknown CPU");
    EXPECT_EQ(kernel_release(root()), "");
    EXPECT_TRUE(health().empty());
}

TEST_F(Machine, CoherenceSaysHowItKnows) {
    hbf_domain_info info{};
    info.struct_size = sizeof info;
    HostCoherence(root()).describe(0, info);
    EXPECT_EQ(info.granule, 64u);
    EXPECT_NE(std::string(info.detail).find("assumed"), std::string::npos) << info.detail;
    put("sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "128\n");
    HostCoherence(root()).describe(0, info);
    EXPECT_EQ(info.protocol, HBF_PROTOCOL_HARDWARE);
    EXPECT_EQ(info.granule, 128u);
    EXPECT_EQ(info.agents, HBF_AGENT_CPU | HBF_AGENT_COPY_ENGINE);
    EXPECT_EQ(info.atomic_widths, 15u);
    EXPECT_STREQ(info.name, "host");
    EXPECT_NE(std::string(info.detail).find("sysfs"), std::string::npos) << info.detail;
    EXPECT_LT(std::string(info.detail).size(), sizeof info.detail - 1) << "cut";
    EXPECT_THROW(HostCoherence(root()).describe(1, info), sdk::Failure);
}

TEST_F(Machine, HealthReadsEveryCounterThereIs) {
    put("sys/devices/system/edac/mc/mc0/ce_count", "3\n");
    put("sys/devices/system/edac/mc/mc0/ue_count", "1\n");
    put("sys/devices/system/edac/mc/mc1/ce_count", "0\n");
    put("proc/meminfo", "MemTotal: 1 kB\nHardwareCorrupted:     8 kB\n");
    put("sys/bus/pci/devices/0000:00:01.0/aer_dev_correctable", "RxErr 5\nBadTLP 0\nTOTAL_ERR_COR 5\n");
    put("sys/bus/pci/devices/0000:00:02.0/aer_dev_correctable", "RxErr 2\nTOTAL_ERR_COR 2\n");
    put("sys/bus/pci/devices/0000:00:02.0/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 0\n");
    put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    put("sys/devices/system/cpu/cpu1/topology/physical_package_id", "0\n");
    put("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "4\n");
    put("sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "6\n");
    put("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
    put("sys/class/thermal/thermal_zone0/temp", "41500\n");
    const std::map<std::string, uint64_t> expected = {{"edac.mc0.ce_count", 3},
                                                      {"edac.mc0.ue_count", 1},
                                                      {"edac.mc1.ce_count", 0},
                                                      {"memory.hardware_corrupted", 8192},
                                                      {"aer.correctable", 7},
                                                      {"aer.fatal", 0},
                                                      {"throttle.package0.package_highest", 6},
                                                      {"thermal_zone0.x86_pkg_temp", 41}};
    EXPECT_EQ(health(), expected);
}

TEST_F(Machine, UnreadableCountersAreLeftOut) {
    put("sys/devices/system/edac/mc/mc0/ce_count", "not a number\n");
    put("sys/devices/system/edac/mc/mc0/ue_count", "");
    EXPECT_TRUE(health().empty());
}

} // namespace
} // namespace hbf::host
