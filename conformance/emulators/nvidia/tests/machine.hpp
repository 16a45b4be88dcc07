// SPDX-License-Identifier: Apache-2.0
// The emulated machine of the test's process: two H100-like devices, and what HBF_EMULATE_FAULTS of the test's own
// environment says. A machine is made once in a process, so a test with a fault runs in a child of its own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/emulators/nvidia/cuda/functions.hpp"

namespace hbf::emulated::cuda::test {

inline std::string profile() {
    return R"(name = "test"
[vendor.nvidia]
driver_version = 12080
driver = "570.86.15"
[host]
iommu = "pt"
[[host.nodes]]
id = 0
cpus = "0-3"
memory = "1 GiB"
[device]
name = "Test H100"
vendor = "nvidia"
architecture = "sm_90"
memory = "64 MiB"
reserved = "1 MiB"
line = 64
allocation_granularity = 65536
pci_vendor = 0x10de
pci_device = 0x2330
[device.attributes]
38 = 52428800
108 = 32768000
109 = 134213632
117 = 1
118 = 0
[device.counters]
temperature_c = 40
clock_mhz = 1980
max_clock_mhz = 1980
[[devices]]
pci = "0000:1b:00.0"
uuid = "8932f937d72c4106c12f20bd9faed9f6"
[[devices]]
pci = "0000:43:00.0"
uuid = "a932f937d72c4106c12f20bd9faed9f6"
[[links]]
between = ["host", "device0"]
kind = "pcie"
generation = 5
width = 16
bandwidth = "1 GB"
[[links]]
between = ["device0", "device1"]
kind = "nvlink"
lanes = 4
peer = "works"
)";
}

// Before anything asks for the machine. `more`: tables of every device, "[device.texts]...". The profile lies in memory: a
// child that ends without ceremony, or by a signal, leaves no file behind.
inline void set_up(const std::string &faults = "", const std::string &more = "") {
    std::string text = profile();
    text.insert(text.find("[device.counters]"), more);
    const long memory = syscall(SYS_memfd_create, "nvidia.toml", 0); // MAP_FAILED of its header is a code of CUDA's, too
    const std::string file = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(memory);
    std::ofstream(file) << text;
    setenv("HBF_EMULATE_PROFILE", file.c_str(), 1);
    if (!faults.empty()) setenv("HBF_EMULATE_FAULTS", faults.c_str(), 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
}

// Runs it in a child, on a machine with these faults: 0 if nothing in it failed, else the signal or exit code.
inline pid_t start_child(const std::string &faults, const std::function<void()> &work, const std::string &more = "") {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        set_up(faults, more);
        try {
            work();
        } catch (...) {
            ADD_FAILURE() << "it threw";
        }
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    return child;
}
inline int end_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}
inline int in_child(const std::string &faults, const std::function<void()> &work, const std::string &more = "") {
    return end_of(start_child(faults, work, more));
}

inline void passes_in_child(const std::string &faults, const std::function<void()> &work, const std::string &more = "") {
    const int end = in_child(faults, work, more);
    EXPECT_EQ(end, 0) << "under \"" << faults << '"';
}

// A context of device 0, current in this thread.
inline CUcontext begin(CUdevice device = 0) {
    CUcontext context = nullptr;
    EXPECT_EQ(cuInit(0), SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, device), SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), SUCCESS);
    return context;
}

inline CUdeviceptr number(const void *at) {
    return reinterpret_cast<uintptr_t>(at);
}

struct Pinned {
    explicit Pinned(size_t size, int first = 0) {
        void *at = nullptr;
        EXPECT_EQ(cuMemHostAlloc(&at, size, HOSTALLOC_PORTABLE), SUCCESS);
        bytes = static_cast<uint8_t *>(at);
        for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(static_cast<size_t>(first) + i * 7 + (i >> 8));
    }
    ~Pinned() { cuMemFreeHost(bytes); }
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
    uint8_t *bytes = nullptr;
};

inline CUdeviceptr device_memory(size_t size) {
    CUdeviceptr at = 0;
    EXPECT_EQ(cuMemAlloc_v2(&at, size), SUCCESS);
    return at;
}

} // namespace hbf::emulated::cuda::test
