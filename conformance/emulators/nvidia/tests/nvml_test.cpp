// SPDX-License-Identifier: Apache-2.0
// The emulated NVML: the same machine as libcuda's, by other numbers.
#include "conformance/emulators/nvidia/nvml/library.hpp"
#include "conformance/emulators/nvidia/tests/machine.hpp"

namespace hbf::emulated::nvml {
namespace {

using cuda::test::passes_in_child;

nvmlDevice_t first() { // as CUDA counts them
    EXPECT_EQ(nvmlInit_v2(), SUCCESS);
    nvmlDevice_t device = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("00000000:1B:00.0", &device), SUCCESS);
    return device;
}

TEST(Nvml, DevicesAreJoinedByAddressNotByNumber) {
    passes_in_child("", [] {
        unsigned int count = 0, index = 9;
        EXPECT_EQ(nvmlDeviceGetCount_v2(&count), UNINITIALIZED);
        nvmlDevice_t device = first(), other = nullptr;
        EXPECT_EQ(nvmlDeviceGetCount_v2(&count), SUCCESS);
        EXPECT_EQ(count, 2u);
        EXPECT_EQ(nvmlDeviceGetIndex(device, &index), SUCCESS);
        EXPECT_EQ(index, 1u); // CUDA's first
        char uuid[80], name[96];
        EXPECT_EQ(nvmlDeviceGetUUID(device, uuid, sizeof uuid), SUCCESS);
        EXPECT_STREQ(uuid, "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6");
        EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid, &other), SUCCESS);
        EXPECT_EQ(other, device);
        EXPECT_EQ(nvmlDeviceGetName(device, name, sizeof name), SUCCESS);
        EXPECT_STREQ(name, "Test H100 (emulated)");
        EXPECT_EQ(nvmlDeviceGetName(device, name, 4), INSUFFICIENT_SIZE);
        nvmlPciInfo_t pci{};
        EXPECT_EQ(nvmlDeviceGetPciInfo_v3(device, &pci), SUCCESS);
        EXPECT_STREQ(pci.bus_id, "00000000:1B:00.0");
        EXPECT_EQ(pci.pci_device_id, 0x233010deu);
        EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:99:00.0", &other), NOT_FOUND);
        EXPECT_EQ(nvmlDeviceGetName(nullptr, name, sizeof name), INVALID_ARGUMENT);
        EXPECT_EQ(nvmlShutdown(), SUCCESS);
        EXPECT_EQ(nvmlDeviceGetCount_v2(&count), UNINITIALIZED);
    });
}

TEST(Nvml, StructsAreVersioned) {
    passes_in_child("", [] {
        nvmlDevice_t device = first();
        nvmlMemory_v2_t memory{};
        EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device, &memory), ARGUMENT_VERSION_MISMATCH);
        memory.version = version_of<nvmlMemory_v2_t>(2);
        EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device, &memory), SUCCESS);
        EXPECT_EQ(memory.total, 64ull << 20);
        EXPECT_EQ(memory.used, 0u);
        cuda::test::begin();
        cuda::test::device_memory(1 << 20);
        EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device, &memory), SUCCESS);
        EXPECT_EQ(memory.used, 1ull << 20); // what libcuda of this process took
    });
}

TEST(Nvml, ErrorsThatCudaMeetsAreCounted) {
    passes_in_child("ecc-silent:count=1", [] {
        nvmlDevice_t device = first();
        unsigned long long errors = 9;
        EXPECT_EQ(nvmlDeviceGetTotalEccErrors(device, 1, 0, &errors), SUCCESS);
        EXPECT_EQ(errors, 0u);
        nvmlEventSet_t set = nullptr;
        nvmlEventData_t event{};
        EXPECT_EQ(nvmlEventSetCreate(&set), SUCCESS);
        EXPECT_EQ(nvmlDeviceRegisterEvents(device, 8, set), SUCCESS);
        EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 0), TIMEOUT);
        cuda::test::begin();
        cuda::test::Pinned to(65536);
        EXPECT_EQ(cuda::cuMemcpyDtoH_v2(to.bytes, cuda::test::device_memory(65536), 65536), cuda::SUCCESS);
        EXPECT_EQ(nvmlDeviceGetTotalEccErrors(device, 1, 0, &errors), SUCCESS);
        EXPECT_EQ(errors, 1u);
        nvmlFieldValue_t fields[3]{};
        fields[0].field = 4;
        fields[1].field = 170;
        fields[2].field = 60000;
        EXPECT_EQ(nvmlDeviceGetFieldValues(device, 3, fields), SUCCESS);
        EXPECT_EQ(fields[0].result, SUCCESS);
        EXPECT_EQ(fields[0].value.ull, 1u);
        EXPECT_EQ(fields[1].value.ui, 0u); // no C2C
        EXPECT_EQ(fields[2].result, NOT_SUPPORTED);
        EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 1000), SUCCESS);
        EXPECT_EQ(event.data, 48u);
        EXPECT_EQ(nvmlEventSetFree(set), SUCCESS);
    });
}

TEST(Nvml, LinksUpAndDown) {
    passes_in_child("", [] {
        nvmlDevice_t device = first();
        int up = 0;
        nvmlPciInfo_t remote{};
        for (unsigned int link = 0; link < 4; ++link) {
            EXPECT_EQ(nvmlDeviceGetNvLinkState(device, link, &up), SUCCESS);
            EXPECT_EQ(up, 1);
            EXPECT_EQ(nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &remote), SUCCESS);
            EXPECT_EQ(remote.bus, 0x43u);
        }
        EXPECT_EQ(nvmlDeviceGetNvLinkState(device, 4, &up), NOT_SUPPORTED);
        EXPECT_EQ(nvmlDeviceGetNvLinkState(device, 18, &up), INVALID_ARGUMENT);
        unsigned int generation = 0, width = 0;
        EXPECT_EQ(nvmlDeviceGetCurrPcieLinkGeneration(device, &generation), SUCCESS);
        EXPECT_EQ(generation, 5u);
        EXPECT_EQ(nvmlDeviceGetCurrPcieLinkWidth(device, &width), SUCCESS);
        EXPECT_EQ(width, 16u);
    });
    passes_in_child("link-down:device=0", [] {
        int up = 1;
        EXPECT_EQ(nvmlDeviceGetNvLinkState(first(), 0, &up), SUCCESS);
        EXPECT_EQ(up, 0);
    });
    passes_in_child("link-narrow:device=0", [] {
        unsigned int width = 0, most = 0;
        nvmlDevice_t device = first();
        EXPECT_EQ(nvmlDeviceGetCurrPcieLinkWidth(device, &width), SUCCESS);
        EXPECT_EQ(nvmlDeviceGetMaxPcieLinkWidth(device, &most), SUCCESS);
        EXPECT_EQ(width, 4u);
        EXPECT_EQ(most, 16u);
    });
}

TEST(Nvml, AHotDeviceAndALostOne) {
    passes_in_child("throttle:device=0", [] {
        unsigned long long reasons = 0;
        EXPECT_EQ(nvmlDeviceGetCurrentClocksThrottleReasons(first(), &reasons), SUCCESS);
        EXPECT_NE(reasons & 0x40, 0u);
    });
    passes_in_child("lost-device", [] {
        nvmlDevice_t device = first();
        cuda::test::begin();
        EXPECT_EQ(cuda::cuMemsetD8_v2(cuda::test::device_memory(4096), 1, 4096), cuda::SUCCESS);
        EXPECT_EQ(cuda::cuCtxSynchronize(), cuda::UNKNOWN);
        unsigned int celsius = 0;
        EXPECT_EQ(nvmlDeviceGetTemperature(device, 0, &celsius), GPU_IS_LOST);
        EXPECT_STREQ(nvmlErrorString(GPU_IS_LOST), "GPU is lost");
    });
    passes_in_child("no-device", [] { EXPECT_EQ(nvmlInit_v2(), DRIVER_NOT_LOADED); });
}

} // namespace
} // namespace hbf::emulated::nvml
