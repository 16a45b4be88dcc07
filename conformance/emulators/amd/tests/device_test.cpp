// SPDX-License-Identifier: Apache-2.0
// What the runtime says of itself and of devices, and how it fails to start.
#include <cstring>

#include "conformance/emulators/amd/tests/on_machine.hpp"

namespace hbf::emulated::test {
namespace {

using namespace hip;

// For the tests of every file here.
INSTANTIATE_TEST_SUITE_P(Rocm, OnBoth, testing::Values(rocm6, rocm5), release_name);

TEST_P(OnBoth, VersionsAndNamesAreThoseOfTheRelease) {
    const bool newer = GetParam().major == 6;
    run({}, [&](const Hip &hip) {
        int version = 0, driver = 0;
        EXPECT_EQ(hip.hipRuntimeGetVersion(&version), hipSuccess);
        EXPECT_EQ(hip.hipDriverGetVersion(&driver), hipSuccess);
        EXPECT_EQ(version / 10'000'000, GetParam().major);
        EXPECT_EQ(driver, version);
        EXPECT_NE(::dlvsym(hip.handle, "hipMalloc", "hip_4.2"), nullptr);
        EXPECT_NE(::dlvsym(hip.handle, "hipMallocAsync", "hip_5.1"), nullptr);
        EXPECT_EQ(::dlvsym(hip.handle, "hipMalloc", "hip_5.1"), nullptr);
        EXPECT_EQ(hip.hipLaunchHostFunc != nullptr, newer) << "Debian's 5.2 declares it and does not export it";
        EXPECT_EQ(hip.hipGetDevicePropertiesR0600 != nullptr, newer);
        EXPECT_EQ(hip.hipGetProcAddress != nullptr, newer);
        Dl_info from{};
        ASSERT_NE(::dladdr(::dlsym(hip.handle, "_ZN3hbf5model7machineEv"), &from), 0);
        EXPECT_NE(std::string(from.dli_fname).find("libhbf-emulated-machine.so"), std::string::npos)
            << "the machine is one, in a library of its own";
    });
}

TEST_P(OnBoth, DevicesAreThoseOfTheMachine) {
    run({}, [&](const Hip &hip) {
        int count = 0, value = 0, device = -1;
        ASSERT_EQ(hip.hipGetDeviceCount(&count), hipSuccess);
        EXPECT_EQ(count, 2);
        char text[256];
        ASSERT_EQ(hip.hipDeviceGetName(text, sizeof text, 1), hipSuccess);
        EXPECT_STREQ(text, "Test card (emulated)");
        ASSERT_EQ(hip.hipDeviceGetPCIBusId(text, sizeof text, 1), hipSuccess);
        EXPECT_STREQ(text, "0000:85:00.0");
        EXPECT_EQ(hip.hipDeviceGetPCIBusId(text, 12, 1), hipErrorInvalidValue) << "no room for its end";
        ASSERT_EQ(hip.hipDeviceGetByPCIBusId(&device, "0000:85:00.0"), hipSuccess);
        EXPECT_EQ(device, 1);
        EXPECT_EQ(hip.hipDeviceGetByPCIBusId(&device, "0000:86:00.0"), hipErrorInvalidDevice);
        ASSERT_EQ(hip.hipDeviceGetAttribute(&value, MULTIPROCESSOR_COUNT, 0), hipSuccess);
        EXPECT_EQ(value, 304) << "by [device.attributes]";
        ASSERT_EQ(hip.hipDeviceGetAttribute(&value, PHYSICAL_MULTIPROCESSOR_COUNT, 0), hipSuccess);
        EXPECT_EQ(value, 8) << "by what follows from the rest";
        ASSERT_EQ(hip.hipDeviceGetAttribute(&value, PCI_BUS_ID, 1), hipSuccess);
        EXPECT_EQ(value, 0x85);
        EXPECT_EQ(hip.hipDeviceGetAttribute(&value, 9000, 0), hipErrorInvalidValue);
        EXPECT_EQ(hip.hipDeviceGetAttribute(&value, WARP_SIZE, 2), hipErrorInvalidDevice);
        EXPECT_EQ(hip.hipGetLastError(), hipErrorInvalidDevice);
        EXPECT_EQ(hip.hipGetLastError(), hipSuccess) << "asking forgets it";
        EXPECT_EQ(hip.hipSetDevice(2), hipErrorInvalidDevice);
        EXPECT_STREQ(hip.hipGetErrorName(hipErrorNotSupported), "hipErrorNotSupported");
    });
}

TEST_P(OnBoth, PropertiesHaveTheLayoutOfTheSymbol) {
    run({}, [&](const Hip &hip) {
        std::vector<char> all(4096, '\x55');
        ASSERT_EQ(hip.hipGetDeviceProperties(all.data(), 1), hipSuccess);
        int bus = 0;
        std::memcpy(&bus, all.data() + 368, sizeof bus);
        EXPECT_EQ(bus, 0x85);
        EXPECT_STREQ(all.data() + 396, "gfx942:sramecc+:xnack-");
        EXPECT_EQ(all[792], '\x55') << "5.2's is not larger";
        if (!hip.hipGetDevicePropertiesR0600) return;
        std::fill(all.begin(), all.end(), '\x55');
        ASSERT_EQ(hip.hipGetDevicePropertiesR0600(all.data(), 1), hipSuccess);
        std::memcpy(&bus, all.data() + 584, sizeof bus);
        EXPECT_EQ(bus, 0x85);
        EXPECT_STREQ(all.data() + 1160, "gfx942:sramecc+:xnack-");
        EXPECT_EQ(all[1472], '\x55');
    });
}

TEST_P(OnBoth, MasksChooseAndOrderDevices) {
    const auto shown = [](const Hip &hip) {
        int count = 0;
        std::string text;
        (void)hip.hipGetDeviceCount(&count);
        for (int i = 0; i < count; ++i) {
            char address[32] = {};
            (void)hip.hipDeviceGetPCIBusId(address, sizeof address, i);
            text += std::string(address).substr(5, 2) + " ";
        }
        return text;
    };
    run({{"HIP_VISIBLE_DEVICES", "1,0"}}, [&](const Hip &hip) { EXPECT_EQ(shown(hip), "85 05 "); });
    run({{"HIP_VISIBLE_DEVICES", "1,7,0"}}, [&](const Hip &hip) { EXPECT_EQ(shown(hip), "85 "); });
    run({{"ROCR_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "0"}},
        [&](const Hip &hip) { EXPECT_EQ(shown(hip), "85 "); });
    run({{"HIP_VISIBLE_DEVICES", ""}}, [&](const Hip &hip) {
        int count = 9;
        EXPECT_EQ(hip.hipGetDeviceCount(&count), hipErrorNoDevice);
        EXPECT_EQ(count, 0);
    });
}

TEST_P(OnBoth, HowItFailsToStart) {
    const auto init = [](const char *fault, hipError_t wanted) {
        run(faults(fault), [&](const Hip &hip) { EXPECT_EQ(hip.hipInit(0), wanted) << fault; });
    };
    init("no-device", hipErrorNoDevice);
    init("init-fails", hipErrorNotInitialized);
    init("init-fails:value=999", hipErrorUnknown);
    init("init-permission", hipErrorNoDevice);
    init("stub-library", hipErrorNotSupported);
    run({{"HBF_EMULATE_PROFILE", "/nothing/here.toml"}},
        [](const Hip &hip) { EXPECT_EQ(hip.hipInit(0), hipErrorNoDevice); });
    run(faults("garbage-version"), [](const Hip &hip) {
        int version = 0;
        EXPECT_EQ(hip.hipRuntimeGetVersion(&version), hipSuccess);
        EXPECT_LT(version, 0);
    });
    run(faults("old-driver:value=40200000"), [](const Hip &hip) {
        int version = 0;
        EXPECT_EQ(hip.hipRuntimeGetVersion(&version), hipSuccess);
        EXPECT_EQ(version, 40'200'000);
    });
    const Files files = GetParam();
    EXPECT_EQ(in_process(faults("init-crashes"), [&] { (void)Hip(files.hip).hipInit(0); }), 128 + SIGSEGV);
    EXPECT_EQ(in_process(faults("init-hangs"),
                         [&] {
                             ::alarm(1);
                             (void)Hip(files.hip).hipInit(0);
                         }),
              128 + SIGALRM)
        << "it returned";
}

TEST_P(OnBoth, AChildOfAStartedProcessHasNoRuntime) {
    run({}, [](const Hip &hip) {
        ASSERT_EQ(hip.hipInit(0), hipSuccess);
        const pid_t child = ::fork();
        if (child == 0) {
            int count = 0;
            ::_exit(hip.hipGetDeviceCount(&count) == hipErrorNotInitialized ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    });
}

TEST_P(OnBoth, PeersAreAsTheMachineSays) {
    run({}, [](const Hip &hip) {
        int can = 0;
        uint32_t type = 0, hops = 0;
        ASSERT_EQ(hip.hipDeviceCanAccessPeer(&can, 0, 1), hipSuccess);
        EXPECT_EQ(can, 1);
        ASSERT_EQ(hip.hipDeviceCanAccessPeer(&can, 1, 1), hipSuccess);
        EXPECT_EQ(can, 0) << "itself";
        ASSERT_EQ(hip.hipExtGetLinkTypeAndHopCount(0, 1, &type, &hops), hipSuccess);
        EXPECT_EQ(type, uint32_t{LINK_XGMI});
        EXPECT_EQ(hip.hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
        EXPECT_EQ(hip.hipDeviceEnablePeerAccess(1, 0), hipSuccess);
        EXPECT_EQ(hip.hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
        EXPECT_EQ(hip.hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
        EXPECT_EQ(hip.hipDeviceDisablePeerAccess(1), hipSuccess);
    });
}

TEST(Lacking, HasAllButOne) {
    EXPECT_EQ(in_process({},
                         [] {
                             const Hip hip(HBF_EMULATED_HIP6_LACKING);
                             EXPECT_EQ(hip.hipEventQuery, nullptr);
                             EXPECT_NE(hip.hipEventRecord, nullptr);
                         }),
              0);
}

TEST(ByName, FunctionsOfLaterReleasesAreNotGiven) {
    EXPECT_EQ(in_process({},
                         [] {
                             const Hip hip(HBF_EMULATED_HIP6);
                             void *found = nullptr;
                             int status = -1;
                             EXPECT_EQ(hip.hipGetProcAddress("hipMalloc", &found, 60'000'000, 0, &status), hipSuccess);
                             EXPECT_EQ(found, reinterpret_cast<void *>(hip.hipMalloc));
                             EXPECT_EQ(hip.hipGetProcAddress("hipExtHostAlloc", &found, 60'000'000, 0, &status),
                                       hipErrorInvalidValue);
                             EXPECT_EQ(status, 2);
                             EXPECT_EQ(hip.hipGetProcAddress("hipNoSuch", &found, 60'000'000, 0, &status),
                                       hipErrorInvalidValue);
                             EXPECT_EQ(status, 1);
                         }),
              0);
}

} // namespace
} // namespace hbf::emulated::test
