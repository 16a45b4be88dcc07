// SPDX-License-Identifier: Apache-2.0
// A libcuda that cannot be used, in each of the ways that a plugin has to say the reason of; and what counts its calls.
#include <csignal>
#include <fstream>
#include <sstream>

#include "conformance/emulators/nvidia/tests/machine.hpp"
#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated::cuda::test {
namespace {

int machine_byte(CUdeviceptr at) { // past all runtimes
    uint8_t byte = 0;
    model::machine()->memory().peek(at, &byte, 1);
    return byte;
}

extern "C" CUresult cuArrayDestroy(void *array); // of those that are exported and not emulated

TEST(CudaFaults, OfInitialisation) {
    EXPECT_EQ(in_child("init-fails:value=803", [] { EXPECT_EQ(cuInit(0), SYSTEM_DRIVER_MISMATCH); }), 0);
    EXPECT_EQ(in_child("init-fails", [] { EXPECT_EQ(cuInit(0), UNKNOWN); }), 0);
    EXPECT_EQ(in_child("init-permission", [] { EXPECT_EQ(cuInit(0), OPERATING_SYSTEM); }), 0);
    EXPECT_EQ(in_child("no-device", [] { EXPECT_EQ(cuInit(0), NO_DEVICE); }), 0);
    EXPECT_EQ(in_child("init-crashes", [] { cuInit(0); }), SIGSEGV);
    EXPECT_EQ(in_child("init-hangs", [] { alarm(1), cuInit(0); }), SIGALRM);
}

TEST(CudaFaults, OfVersionsAndSymbols) {
    EXPECT_EQ(in_child("stub-library",
                       [] {
                           int version = 0;
                           EXPECT_EQ(cuInit(0), STUB_LIBRARY);
                           EXPECT_EQ(cuDriverGetVersion(&version), STUB_LIBRARY);
                       }),
              0);
    EXPECT_EQ(in_child("old-driver:value=11020",
                       [] {
                           int version = 0, status = 0;
                           void *function = nullptr;
                           EXPECT_EQ(cuDriverGetVersion(&version), SUCCESS);
                           EXPECT_EQ(version, 11020);
                           EXPECT_EQ(cuGetProcAddress_v2("cuMemcpyAsync", &function, 12000, 0, &status), INVALID_VALUE);
                       }),
              0);
    EXPECT_EQ(in_child("garbage-version",
                       [] {
                           int version = 0;
                           EXPECT_EQ(cuDriverGetVersion(&version), SUCCESS);
                           EXPECT_LT(version, 0);
                       }),
              0);
    EXPECT_EQ(in_child("missing-symbol",
                       [] {
                           void *function = nullptr;
                           int status = 0;
                           EXPECT_EQ(cuGetProcAddress_v2("cuStreamWaitEvent", &function, 12000, 0, &status), SUCCESS);
                           EXPECT_EQ(function, nullptr);
                           EXPECT_EQ(status, QUERY_SYMBOL_NOT_FOUND);
                       }),
              0);
}

TEST(CudaFaults, OfMemoryAndPeers) {
    EXPECT_EQ(in_child("oom:after=2",
                       [] {
                           begin();
                           CUdeviceptr at = 0;
                           EXPECT_EQ(cuMemAlloc_v2(&at, 4096), SUCCESS);
                           EXPECT_EQ(cuMemAlloc_v2(&at, 4096), SUCCESS);
                           EXPECT_EQ(cuMemAlloc_v2(&at, 4096), OUT_OF_MEMORY);
                       }),
              0);
    EXPECT_EQ(in_child("coherence-lies",
                       [] {
                           begin();
                           int value = 0;
                           EXPECT_EQ(cuDeviceGetAttribute(&value, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 0), SUCCESS);
                           EXPECT_EQ(value, 1);
                           Pinned host(4096), back(4096);
                           std::memset(host.bytes, 1, 4096);
                           const CUdeviceptr at = device_memory(4096);
                           EXPECT_EQ(cuMemcpyHtoD_v2(at, host.bytes, 4096), SUCCESS);
                           std::memset(host.bytes, 2, 4096); // the device has its own copy of these lines
                           EXPECT_EQ(cuMemcpyHtoD_v2(at, host.bytes, 4096), SUCCESS);
                           EXPECT_EQ(machine_byte(at), 1);
                       }),
              0);
    EXPECT_EQ(in_child("peer-drops-writes",
                       [] {
                           CUcontext one = begin(0), other = nullptr;
                           ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), SUCCESS);
                           ASSERT_EQ(cuCtxEnablePeerAccess(other, 0), SUCCESS);
                           ASSERT_EQ(cuCtxPushCurrent_v2(other), SUCCESS);
                           const CUdeviceptr there = device_memory(4096);
                           EXPECT_EQ(cuMemsetD8_v2(there, 0xcc, 4096), SUCCESS);
                           EXPECT_EQ(cuCtxSynchronize(), SUCCESS);
                           ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), SUCCESS);
                           const CUdeviceptr here = device_memory(4096);
                           EXPECT_EQ(cuMemsetD8_v2(here, 0x11, 4096), SUCCESS);
                           EXPECT_EQ(cuMemcpyPeer(there, other, here, one, 4096), SUCCESS);
                           EXPECT_EQ(cuCtxSynchronize(), SUCCESS);
                           Pinned back(4096);
                           EXPECT_EQ(cuMemcpyDtoH_v2(back.bytes, there, 4096), SUCCESS);
                           EXPECT_EQ(back.bytes[0], 0xcc); // nothing came, and nobody said so
                       }),
              0);
}

TEST(CudaCounts, EveryCallIsCountedAndWhatIsNotEmulatedSaysSo) {
    const std::string file = testing::TempDir() + "counts-" + std::to_string(getpid());
    setenv("HBF_EMULATE_COUNTS", file.c_str(), 1);
    const pid_t child = fork();
    if (child == 0) {
        set_up();
        begin();
        const CUresult result = cuArrayDestroy(nullptr);
        cuArrayDestroy(nullptr);
        exit(result == NOT_SUPPORTED ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    unsetenv("HBF_EMULATE_COUNTS");
    EXPECT_EQ(status, 0);
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    EXPECT_NE(text.str().find("libcuda.so.1 cuArrayDestroy unsupported 2\n"), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("libcuda.so.1 cuDevicePrimaryCtxRetain called 1\n"), std::string::npos) << text.str();
    unlink(file.c_str());
}

} // namespace
} // namespace hbf::emulated::cuda::test
