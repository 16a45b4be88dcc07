// SPDX-License-Identifier: Apache-2.0
// The emulated libcuda as a program sees it, each test in a process of its own.
#include <algorithm>
#include <string>

#include "conformance/emulators/nvidia/tests/machine.hpp"
#include "kernels/device/copy.h"

namespace hbf::emulated::cuda::test {
namespace {

TEST(Cuda, NothingWorksBeforeInit) {
    passes_in_child("", [] {
        int count = 0;
        EXPECT_EQ(cuDeviceGetCount(&count), NOT_INITIALIZED);
        EXPECT_EQ(cuDriverGetVersion(&count), SUCCESS);
        EXPECT_EQ(count, 12080);
        EXPECT_EQ(cuInit(1), INVALID_VALUE);
        EXPECT_EQ(cuInit(0), SUCCESS);
        EXPECT_EQ(cuDeviceGetCount(&count), SUCCESS);
        EXPECT_EQ(count, 2);
        CUdeviceptr at = 0;
        EXPECT_EQ(cuMemAlloc_v2(&at, 4096), INVALID_CONTEXT);
        const char *name = nullptr;
        EXPECT_EQ(cuGetErrorName(214, &name), SUCCESS);
        EXPECT_STREQ(name, "CUDA_ERROR_ECC_UNCORRECTABLE");
        EXPECT_EQ(cuGetErrorName(12345, &name), INVALID_VALUE);
    });
}

TEST(Cuda, DevicesSayWhatTheyAreAndThatTheyAreEmulated) {
    passes_in_child("", [] {
        ASSERT_EQ(cuInit(0), SUCCESS);
        char name[64], pci[16];
        EXPECT_EQ(cuDeviceGetName(name, sizeof name, 0), SUCCESS);
        EXPECT_STREQ(name, "Test H100 (emulated)");
        EXPECT_EQ(cuDeviceGetPCIBusId(pci, sizeof pci, 1), SUCCESS);
        EXPECT_STREQ(pci, "0000:43:00.0");
        CUdevice device = -1;
        EXPECT_EQ(cuDeviceGetByPCIBusId(&device, "0000:43:00.0"), SUCCESS);
        EXPECT_EQ(device, 1);
        int value = 0;
        EXPECT_EQ(cuDeviceGetAttribute(&value, COMPUTE_CAPABILITY_MAJOR, 0), SUCCESS);
        EXPECT_EQ(value, 9);
        EXPECT_EQ(cuDeviceGetAttribute(&value, L2_CACHE_SIZE, 0), SUCCESS);
        EXPECT_EQ(value, 52428800);
        EXPECT_EQ(cuDeviceGetAttribute(&value, PCI_BUS_ID, 0), SUCCESS);
        EXPECT_EQ(value, 0x1b);
        EXPECT_EQ(cuDeviceGetAttribute(&value, 1000, 0), INVALID_VALUE);
        EXPECT_EQ(cuDeviceGetAttribute(&value, 1, 2), INVALID_DEVICE);
    });
}

TEST(Cuda, VisibleDevices) {
    passes_in_child("", [] {
        setenv("CUDA_VISIBLE_DEVICES", "GPU-a932f937", 1);
        ASSERT_EQ(cuInit(0), SUCCESS);
        int count = 0;
        EXPECT_EQ(cuDeviceGetCount(&count), SUCCESS);
        EXPECT_EQ(count, 1);
        char pci[16];
        EXPECT_EQ(cuDeviceGetPCIBusId(pci, sizeof pci, 0), SUCCESS);
        EXPECT_STREQ(pci, "0000:43:00.0");
    });
    passes_in_child("", [] {
        setenv("CUDA_VISIBLE_DEVICES", "7", 1);
        EXPECT_EQ(cuInit(0), NO_DEVICE);
    });
}

TEST(Cuda, EntryPointsByRelease) {
    passes_in_child("", [] {
        void *function = nullptr;
        int status = -1;
        EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &status), SUCCESS);
        EXPECT_EQ(function, reinterpret_cast<void *>(&cuMemAlloc_v2));
        EXPECT_EQ(cuGetProcAddress_v2("cuMemAdvise", &function, 12020, 0, &status), SUCCESS);
        EXPECT_EQ(function, reinterpret_cast<void *>(&cuMemAdvise_v2));
        EXPECT_EQ(cuGetProcAddress_v2("cuMemAdvise", &function, 12010, 0, &status), SUCCESS);
        EXPECT_EQ(function, reinterpret_cast<void *>(&cuMemAdvise));
        EXPECT_EQ(cuGetProcAddress_v2("cuMemcpyBatchAsync", &function, 12080, 0, &status), SUCCESS);
        EXPECT_EQ(function, reinterpret_cast<void *>(&cuMemcpyBatchAsync));
        EXPECT_EQ(cuGetProcAddress_v2("cuMemcpyBatchAsync", &function, 12000, 0, &status), SUCCESS);
        EXPECT_EQ(function, nullptr);
        EXPECT_EQ(status, QUERY_VERSION_NOT_SUFFICIENT);
        EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchThing", &function, 12000, 0, &status), SUCCESS);
        EXPECT_EQ(status, QUERY_SYMBOL_NOT_FOUND);
        EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 13000, 0, nullptr), INVALID_VALUE); // beyond the driver
        EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &function, 12000, 0), NOT_FOUND);
        EXPECT_EQ(cuGetProcAddress_v2("cuStreamQuery", &function, 12000, PROC_PER_THREAD_STREAM, nullptr), SUCCESS);
        EXPECT_NE(function, reinterpret_cast<void *>(&cuStreamQuery));
    });
}

TEST(Cuda, BytesGoThereAndBack) {
    passes_in_child("", [] {
        begin();
        constexpr size_t size = 300000;
        Pinned from(size), to(size, 3);
        const CUdeviceptr at = device_memory(size), other = device_memory(size);
        CUstream stream = nullptr;
        CUevent event = nullptr;
        ASSERT_EQ(cuStreamCreate(&stream, STREAM_NON_BLOCKING), SUCCESS);
        ASSERT_EQ(cuEventCreate(&event, EVENT_DISABLE_TIMING), SUCCESS);
        EXPECT_EQ(cuEventQuery(event), SUCCESS); // stands for nothing
        EXPECT_EQ(cuMemcpyHtoDAsync_v2(at, from.bytes, size, stream), SUCCESS);
        EXPECT_EQ(cuMemcpyAsync(other, at, size, stream), SUCCESS);
        EXPECT_EQ(cuMemcpyDtoHAsync_v2(to.bytes, other, size, stream), SUCCESS);
        EXPECT_EQ(cuEventRecord(event, stream), SUCCESS);
        EXPECT_EQ(cuEventSynchronize(event), SUCCESS);
        EXPECT_EQ(cuStreamQuery(stream), SUCCESS);
        EXPECT_TRUE(std::equal(from.bytes, from.bytes + size, to.bytes));
        EXPECT_EQ(cuMemsetD32Async(at, 0x01020304, 16, stream), SUCCESS);
        EXPECT_EQ(cuMemsetD32Async(at + 2, 0, 1, stream), INVALID_VALUE); // not aligned
        EXPECT_EQ(cuMemcpyDtoH_v2(to.bytes, at, 64), SUCCESS);            // another stream: nothing orders the two
        EXPECT_EQ(cuStreamSynchronize(stream), SUCCESS);
        EXPECT_EQ(cuMemcpyDtoH_v2(to.bytes, at, 64), SUCCESS);
        EXPECT_EQ(to.bytes[0], 4);
        EXPECT_EQ(to.bytes[63], 1);
        EXPECT_EQ(cuEventDestroy_v2(event), SUCCESS);
        EXPECT_EQ(cuEventQuery(event), INVALID_HANDLE);
        EXPECT_EQ(cuStreamDestroy_v2(stream), SUCCESS);
        EXPECT_EQ(cuStreamDestroy_v2(stream), INVALID_HANDLE);
        EXPECT_EQ(cuMemFree_v2(at), SUCCESS);
        EXPECT_EQ(cuMemFree_v2(at), INVALID_VALUE);
    });
}

// "Asynchronous means later": a stream held by a host function has done nothing.
TEST(Cuda, AsynchronousIsLater) {
    passes_in_child("", [] {
        begin();
        Pinned from(4096), to(4096, 99);
        const CUdeviceptr at = device_memory(4096);
        CUstream stream = nullptr;
        ASSERT_EQ(cuStreamCreate(&stream, STREAM_NON_BLOCKING), SUCCESS);
        static std::atomic<bool> go{false};
        EXPECT_EQ(cuLaunchHostFunc(
                      stream,
                      [](void *) {
                          while (!go) usleep(100);
                      },
                      nullptr),
                  SUCCESS);
        EXPECT_EQ(cuMemcpyHtoDAsync_v2(at, from.bytes, 4096, stream), SUCCESS);
        EXPECT_EQ(cuMemcpyDtoHAsync_v2(to.bytes, at, 4096, stream), SUCCESS);
        EXPECT_EQ(cuStreamQuery(stream), NOT_READY);
        EXPECT_EQ(to.bytes[0], 99);
        from.bytes[0] = 55; // pinned memory is read when the copy runs
        go = true;
        EXPECT_EQ(cuStreamSynchronize(stream), SUCCESS);
        EXPECT_EQ(to.bytes[0], 55);
    });
}

// Memory that is not pinned is taken before the call returns; read late, it is another's by then.
void pageable(uint8_t expected) {
    begin();
    std::vector<uint8_t> from(4096, 1);
    Pinned to(4096);
    const CUdeviceptr at = device_memory(4096);
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, STREAM_NON_BLOCKING), SUCCESS);
    static std::atomic<bool> go{false};
    EXPECT_EQ(cuLaunchHostFunc(
                  stream,
                  [](void *) {
                      while (!go) usleep(100);
                  },
                  nullptr),
              SUCCESS);
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(at, from.data(), 4096, stream), SUCCESS);
    std::fill(from.begin(), from.end(), uint8_t{2});
    go = true;
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(to.bytes, at, 4096, stream), SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), SUCCESS);
    EXPECT_EQ(to.bytes[100], expected);
}
TEST(Cuda, PageableMemoryIsStaged) {
    passes_in_child("", [] { pageable(1); });
}
TEST(CudaMisread, PageableMemoryReadLate) {
    passes_in_child("cuda-pageable-late", [] { pageable(2); });
}

// A batch whose source is written by work ahead of it in the same stream.
void batch(int order, uint8_t expected) {
    begin();
    Pinned from(4096), to(4096, 3);
    std::fill(from.bytes, from.bytes + 4096, uint8_t{7});
    const CUdeviceptr at = device_memory(4096);
    EXPECT_EQ(cuMemsetD8_v2(at, 1, 4096), SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), SUCCESS);
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, STREAM_NON_BLOCKING), SUCCESS);
    static std::atomic<bool> go{false};
    EXPECT_EQ(cuLaunchHostFunc(
                  stream,
                  [](void *) {
                      while (!go) usleep(100);
                  },
                  nullptr),
              SUCCESS);
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(at, from.bytes, 4096, stream), SUCCESS);
    CUdeviceptr dst[] = {number(to.bytes), number(to.bytes + 2048)}, src[] = {at, at + 2048};
    size_t sizes[] = {2048, 2048}, first[] = {0}, failed = 0;
    CUmemcpyAttributes attributes[1]{};
    attributes[0].source_access_order = order;
    EXPECT_EQ(cuMemcpyBatchAsync(dst, src, sizes, 2, attributes, first, 1, &failed, nullptr), INVALID_VALUE); // stream 0
    EXPECT_EQ(cuMemcpyBatchAsync(dst, src, sizes, 2, attributes, first, 1, &failed, stream), SUCCESS);
    go = true;
    EXPECT_EQ(cuStreamSynchronize(stream), SUCCESS);
    EXPECT_EQ(to.bytes[0], expected);
    EXPECT_EQ(to.bytes[4095], expected);
    attributes[0].source_access_order = 0;
    EXPECT_EQ(cuMemcpyBatchAsync(dst, src, sizes, 2, attributes, first, 1, &failed, stream), INVALID_VALUE);
    attributes[0].source_access_order = order;
    sizes[1] = 0;
    EXPECT_EQ(cuMemcpyBatchAsync(dst, src, sizes, 2, attributes, first, 1, &failed, stream), INVALID_VALUE);
    EXPECT_EQ(failed, 1u);
}
TEST(Cuda, ABatchReadsInTheStreamsOrder) {
    passes_in_child("", [] { batch(ORDER_STREAM, 7); });
}
TEST(Cuda, ABatchOfAnyOrderReadsWhatWasThere) {
    passes_in_child("", [] { batch(ORDER_ANY, 1); });
}
TEST(CudaMisread, ABatchReadsOutOfOrder) {
    passes_in_child("cuda-batch-any-order", [] { batch(ORDER_STREAM, 1); });
}

TEST(Cuda, WaitsAcrossStreams) {
    passes_in_child("", [] {
        begin();
        Pinned from(65536), to(65536, 9);
        const CUdeviceptr at = device_memory(65536);
        CUstream a = nullptr, b = nullptr;
        CUevent event = nullptr;
        ASSERT_EQ(cuStreamCreate(&a, STREAM_NON_BLOCKING), SUCCESS);
        ASSERT_EQ(cuStreamCreate(&b, STREAM_NON_BLOCKING), SUCCESS);
        ASSERT_EQ(cuEventCreate(&event, 0), SUCCESS);
        for (int i = 0; i < 200; ++i) {
            from.bytes[0] = static_cast<uint8_t>(i);
            EXPECT_EQ(cuMemcpyHtoDAsync_v2(at, from.bytes, 65536, a), SUCCESS);
            EXPECT_EQ(cuEventRecord(event, a), SUCCESS);
            EXPECT_EQ(cuStreamWaitEvent(b, event, 0), SUCCESS);
            EXPECT_EQ(cuMemcpyDtoHAsync_v2(to.bytes, at, 65536, b), SUCCESS);
            EXPECT_EQ(cuStreamSynchronize(b), SUCCESS);
            ASSERT_EQ(to.bytes[0], static_cast<uint8_t>(i));
        }
        EXPECT_EQ(cuStreamWaitEvent(b, event, 1), INVALID_VALUE);
        float ms = -1;
        EXPECT_EQ(cuEventElapsedTime(&ms, event, event), SUCCESS);
        EXPECT_EQ(ms, 0);
    });
}

TEST(Cuda, MemoryByHand) {
    passes_in_child("", [] {
        begin();
        CUmemAllocationProp prop{};
        prop.type = 1;
        prop.location = {LOCATION_DEVICE, 0};
        size_t granularity = 0;
        ASSERT_EQ(cuMemGetAllocationGranularity(&granularity, &prop, 0), SUCCESS);
        EXPECT_EQ(granularity, 65536u);
        CUmemGenericAllocationHandle handle = 0;
        EXPECT_EQ(cuMemCreate(&handle, granularity + 1, &prop, 0), INVALID_VALUE);
        ASSERT_EQ(cuMemCreate(&handle, granularity, &prop, 0), SUCCESS);
        CUdeviceptr at = 0;
        ASSERT_EQ(cuMemAddressReserve(&at, granularity, 0, 0, 0), SUCCESS);
        ASSERT_EQ(cuMemMap(at, granularity, 0, handle, 0), SUCCESS);
        Pinned bytes(4096), back(4096, 5);
        EXPECT_EQ(cuMemcpyHtoD_v2(at, bytes.bytes, 4096), INVALID_VALUE); // nobody may touch it yet
        const CUmemAccessDesc access{{LOCATION_DEVICE, 0}, 3};
        ASSERT_EQ(cuMemSetAccess(at, granularity, &access, 1), SUCCESS);
        EXPECT_EQ(cuMemcpyHtoD_v2(at, bytes.bytes, 4096), SUCCESS);
        EXPECT_EQ(cuMemcpyDtoH_v2(back.bytes, at, 4096), SUCCESS);
        EXPECT_TRUE(std::equal(bytes.bytes, bytes.bytes + 4096, back.bytes));
        EXPECT_EQ(cuMemRelease(handle), SUCCESS); // the mapping keeps it
        EXPECT_EQ(cuMemcpyDtoH_v2(back.bytes, at, 4096), SUCCESS);
        EXPECT_EQ(cuMemAddressFree(at, granularity), INVALID_VALUE);
        EXPECT_EQ(cuMemUnmap(at, granularity), SUCCESS);
        EXPECT_EQ(cuMemAddressFree(at, granularity), SUCCESS);
        EXPECT_EQ(cuMemFree_v2(at), INVALID_VALUE);
    });
}

TEST(Cuda, PointersTellWhatTheyAre) {
    passes_in_child("", [] {
        CUcontext context = begin();
        const CUdeviceptr at = device_memory(4096);
        Pinned host(4096);
        unsigned int type = 0;
        EXPECT_EQ(cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, at + 100), SUCCESS);
        EXPECT_EQ(type, 2u);
        EXPECT_EQ(cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, number(host.bytes)), SUCCESS);
        EXPECT_EQ(type, 1u);
        CUcontext of = nullptr;
        EXPECT_EQ(cuPointerGetAttribute(&of, POINTER_CONTEXT, at), SUCCESS);
        EXPECT_EQ(of, context);
        int unknown = 0;
        EXPECT_EQ(cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, number(&unknown)), INVALID_VALUE);
        CUdeviceptr base = 0;
        size_t size = 0;
        EXPECT_EQ(cuMemGetAddressRange_v2(&base, &size, at + 7), SUCCESS);
        EXPECT_EQ(base, at);
        EXPECT_EQ(size, 4096u);
    });
}

TEST(Cuda, RegisteredMemory) {
    passes_in_child("", [] {
        begin();
        auto *const at = static_cast<uint8_t *>(aligned_alloc(4096, 8192));
        std::memset(at, 6, 8192);
        EXPECT_EQ(cuMemHostRegister_v2(at, 8192, HOSTREGISTER_DEVICEMAP), SUCCESS);
        EXPECT_EQ(cuMemHostRegister_v2(at, 8192, 0), HOST_MEMORY_ALREADY_REGISTERED);
        CUdeviceptr mapped = 0;
        EXPECT_EQ(cuMemHostGetDevicePointer_v2(&mapped, at, 0), SUCCESS);
        EXPECT_EQ(mapped, number(at));
        EXPECT_EQ(cuMemHostUnregister(at), SUCCESS);
        EXPECT_EQ(cuMemHostUnregister(at), HOST_MEMORY_NOT_REGISTERED);
        free(at);
    });
}

TEST(Cuda, PeersReachEachOtherOnceEnabled) {
    passes_in_child("", [] {
        CUcontext one = begin(0);
        CUcontext other = nullptr;
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), SUCCESS);
        int can = 0;
        EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), SUCCESS);
        EXPECT_EQ(can, 1);
        EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 0), SUCCESS);
        EXPECT_EQ(can, 0);
        EXPECT_EQ(cuCtxEnablePeerAccess(one, 0), INVALID_CONTEXT);
        EXPECT_EQ(cuCtxEnablePeerAccess(other, 0), SUCCESS);
        EXPECT_EQ(cuCtxEnablePeerAccess(other, 0), PEER_ACCESS_ALREADY_ENABLED);
        const CUdeviceptr here = device_memory(4096);
        ASSERT_EQ(cuCtxPushCurrent_v2(other), SUCCESS);
        const CUdeviceptr there = device_memory(4096);
        ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), SUCCESS);
        Pinned from(4096), to(4096, 5);
        EXPECT_EQ(cuMemcpyHtoD_v2(here, from.bytes, 4096), SUCCESS);
        CUstream stream = nullptr;
        ASSERT_EQ(cuStreamCreate(&stream, 0), SUCCESS);
        EXPECT_EQ(cuMemcpyPeerAsync(there, other, here, one, 4096, stream), SUCCESS);
        EXPECT_EQ(cuMemcpyDtoHAsync_v2(to.bytes, there, 4096, stream), SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(stream), SUCCESS);
        EXPECT_TRUE(std::equal(from.bytes, from.bytes + 4096, to.bytes));
        EXPECT_EQ(cuCtxDisablePeerAccess(other), SUCCESS);
        EXPECT_EQ(cuCtxDisablePeerAccess(other), PEER_ACCESS_NOT_ENABLED);
    });
}

constexpr char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry copy(\n.param .u64 a\n){ret;}\n";

TEST(Cuda, KernelsRunAsTheirTwins) {
    passes_in_child("", [] {
        begin();
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        ASSERT_EQ(cuModuleLoadData(&module, ptx), SUCCESS);
        EXPECT_EQ(cuModuleGetFunction(&function, module, "nothing"), NOT_FOUND);
        ASSERT_EQ(cuModuleGetFunction(&function, module, "copy"), SUCCESS);
        constexpr size_t size = 65536;
        Pinned from(size), to(size, 9);
        CUdeviceptr a = device_memory(size), b = device_memory(size);
        EXPECT_EQ(cuMemcpyHtoD_v2(a, from.bytes, size), SUCCESS);
        uint64_t zero = 0;
        kernels::device::copy_arguments arguments{};
        arguments.size = size;
        void *parameters[] = {&a, &zero, &b, &zero, &arguments};
        CUstream stream = nullptr;
        ASSERT_EQ(cuStreamCreate(&stream, 0), SUCCESS);
        EXPECT_EQ(cuLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr), SUCCESS);
        EXPECT_EQ(cuLaunchKernel(function, 4, 1, 1, 2048, 1, 1, 0, stream, parameters, nullptr), INVALID_VALUE);
        EXPECT_EQ(cuMemcpyDtoHAsync_v2(to.bytes, b, size, stream), SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(stream), SUCCESS);
        EXPECT_TRUE(std::equal(from.bytes, from.bytes + size, to.bytes));
        size_t offset = 0, bytes = 0;
        EXPECT_EQ(cuFuncGetParamInfo(function, 4, &offset, &bytes), SUCCESS);
        EXPECT_EQ(offset, 32u);
        EXPECT_EQ(bytes, sizeof arguments);
        EXPECT_EQ(cuModuleUnload(module), SUCCESS);
        EXPECT_EQ(cuLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr), INVALID_HANDLE);
    });
}

TEST(Cuda, ImagesForOthersAreRefused) {
    passes_in_child("", [] {
        begin();
        CUmodule module = nullptr;
        std::string text = ptx;
        text.replace(text.find("sm_80"), 5, "sm_95");
        EXPECT_EQ(cuModuleLoadData(&module, text.c_str()), NO_BINARY_FOR_GPU);
        text = ptx;
        text.replace(text.find("8.0"), 3, "9.9");
        EXPECT_EQ(cuModuleLoadData(&module, text.c_str()), UNSUPPORTED_PTX_VERSION);
        EXPECT_EQ(cuModuleLoadData(&module, "no image at all"), INVALID_IMAGE);
        EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\nno target"), INVALID_PTX);
    });
    passes_in_child("image-refused", [] {
        begin();
        CUmodule module = nullptr;
        EXPECT_EQ(cuModuleLoadData(&module, ptx), NO_BINARY_FOR_GPU);
    });
}

TEST(Cuda, TheCacheWindowIsAHintWithLimits) {
    passes_in_child("", [] {
        begin();
        EXPECT_EQ(cuCtxSetLimit(LIMIT_PERSISTING_L2_CACHE_SIZE, size_t{1} << 40), SUCCESS);
        size_t set = 0;
        EXPECT_EQ(cuCtxGetLimit(&set, LIMIT_PERSISTING_L2_CACHE_SIZE), SUCCESS);
        EXPECT_EQ(set, 32768000u);
        CUstream stream = nullptr;
        ASSERT_EQ(cuStreamCreate(&stream, 0), SUCCESS);
        CUstreamAttrValue value{};
        value.window.bytes = 1 << 20;
        value.window.hit_ratio = 1;
        value.window.hit_property = 2;
        EXPECT_EQ(cuStreamSetAttribute(stream, STREAM_ACCESS_POLICY_WINDOW, &value), SUCCESS);
        value.window.bytes = 134213633;
        EXPECT_EQ(cuStreamSetAttribute(stream, STREAM_ACCESS_POLICY_WINDOW, &value), INVALID_VALUE);
        EXPECT_EQ(cuStreamGetAttribute(stream, STREAM_ACCESS_POLICY_WINDOW, &value), SUCCESS);
        EXPECT_EQ(value.window.bytes, size_t{1} << 20);
        EXPECT_EQ(cuCtxResetPersistingL2Cache(), SUCCESS);
    });
}

} // namespace
} // namespace hbf::emulated::cuda::test
