// SPDX-License-Identifier: Apache-2.0
// How work, contexts, processes and devices end in the emulated driver.
#include <algorithm>
#include <string>

#include "conformance/emulators/nvidia/tests/machine.hpp"
#include "kernels/device/copy.h"

namespace hbf::emulated::cuda::test {
namespace {

TEST(Cuda, ErrorsStay) {
    passes_in_child("ecc:after=0,count=1", [] {
        begin();
        Pinned host(65536);
        const CUdeviceptr at = device_memory(65536);
        CUstream stream = nullptr;
        CUevent event = nullptr;
        ASSERT_EQ(cuStreamCreate(&stream, 0), SUCCESS);
        ASSERT_EQ(cuEventCreate(&event, 0), SUCCESS);
        EXPECT_EQ(cuMemcpyDtoHAsync_v2(host.bytes, at, 65536, stream), SUCCESS);
        const CUresult recorded = cuEventRecord(event, stream);
        EXPECT_TRUE(recorded == SUCCESS || recorded == ECC_UNCORRECTABLE);
        EXPECT_EQ(cuStreamSynchronize(stream), ECC_UNCORRECTABLE);
        EXPECT_EQ(cuEventQuery(event), ECC_UNCORRECTABLE);
        CUdeviceptr other = 0;
        EXPECT_EQ(cuMemAlloc_v2(&other, 4096), ECC_UNCORRECTABLE);
        EXPECT_EQ(cuCtxSynchronize(), ECC_UNCORRECTABLE);
    });
}

TEST(Cuda, ALostDeviceIsLost) {
    passes_in_child("lost-device:after=3", [] {
        begin();
        Pinned host(4096);
        const CUdeviceptr at = device_memory(4096);
        CUresult result = SUCCESS;
        for (int i = 0; i < 10 && result == SUCCESS; ++i) result = cuMemcpyHtoD_v2(at, host.bytes, 4096);
        EXPECT_EQ(result, UNKNOWN);
        EXPECT_EQ(cuCtxSynchronize(), UNKNOWN);
    });
}

TEST(Cuda, FreedMemoryIsMetByNobody) {
    passes_in_child("", [] {
        begin();
        Pinned host(4096);
        const CUdeviceptr at = device_memory(4096);
        EXPECT_EQ(cuMemFree_v2(at), SUCCESS);
        EXPECT_EQ(cuMemcpyHtoD_v2(at, host.bytes, 4096), INVALID_VALUE);
        EXPECT_EQ(cuCtxSynchronize(), SUCCESS); // found in the call, nothing is broken
    });
}

TEST(Cuda, AContextsEndTakesWhatItOwns) {
    passes_in_child("", [] {
        begin();
        size_t before = 0, now = 0, total = 0;
        EXPECT_EQ(cuMemGetInfo_v2(&before, &total), SUCCESS);
        EXPECT_EQ(total, size_t{64} << 20);
        device_memory(1 << 20);
        CUstream stream = nullptr;
        ASSERT_EQ(cuStreamCreate(&stream, 0), SUCCESS);
        EXPECT_EQ(cuMemGetInfo_v2(&now, &total), SUCCESS);
        EXPECT_LT(now, before);
        EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), SUCCESS);
        EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), INVALID_CONTEXT);
        EXPECT_EQ(cuMemGetInfo_v2(&now, &total), CONTEXT_IS_DESTROYED);
        CUcontext context = nullptr;
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), SUCCESS);
        EXPECT_EQ(cuMemGetInfo_v2(&now, &total), SUCCESS);
        EXPECT_EQ(now, before);
        EXPECT_EQ(cuStreamQuery(stream), INVALID_HANDLE);
    });
}

TEST(Cuda, CallbacksMayNotCall) {
    passes_in_child("", [] {
        begin();
        CUstream stream = nullptr;
        ASSERT_EQ(cuStreamCreate(&stream, 0), SUCCESS);
        static std::atomic<CUresult> seen{SUCCESS};
        static std::atomic<int> ran{0};
        EXPECT_EQ(cuLaunchHostFunc(
                      stream,
                      [](void *) {
                          int count = 0;
                          seen = cuDeviceGetCount(&count);
                      },
                      nullptr),
                  SUCCESS);
        EXPECT_EQ(cuStreamAddCallback(
                      stream, [](CUstream, CUresult status, void *) { ran += status == SUCCESS; }, nullptr, 0),
                  SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(stream), SUCCESS);
        EXPECT_EQ(seen, NOT_PERMITTED);
        EXPECT_EQ(ran, 1);
    });
}

TEST(Cuda, AChildOfTheProcessMustBeginAnew) {
    passes_in_child("", [] {
        ASSERT_EQ(cuInit(0), SUCCESS);
        const pid_t child = fork();
        if (child == 0) {
            int count = 0;
            _exit(cuDeviceGetCount(&count) == NOT_INITIALIZED && cuInit(0) == NOT_INITIALIZED ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    });
}

TEST(Cuda, WordsThatAStreamWaitsFor) {
    passes_in_child("", [] {
        begin();
        Pinned word(4096);
        std::memset(word.bytes, 0, 4096);
        CUstream a = nullptr, b = nullptr;
        ASSERT_EQ(cuStreamCreate(&a, STREAM_NON_BLOCKING), SUCCESS);
        ASSERT_EQ(cuStreamCreate(&b, STREAM_NON_BLOCKING), SUCCESS);
        EXPECT_EQ(cuStreamWaitValue64_v2(a, number(word.bytes), 5, WAIT_VALUE_GEQ), SUCCESS);
        EXPECT_EQ(cuStreamWriteValue64_v2(a, number(word.bytes + 8), 9, 0), SUCCESS);
        EXPECT_EQ(cuStreamQuery(a), NOT_READY);
        EXPECT_EQ(cuStreamWriteValue64_v2(b, number(word.bytes), 6, 0), SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(a), SUCCESS);
        EXPECT_EQ(word.bytes[8], 9);
        EXPECT_EQ(cuStreamWriteValue64_v2(b, number(word.bytes + 4), 6, 0), INVALID_VALUE); // not aligned
    });
}

} // namespace
} // namespace hbf::emulated::cuda::test
