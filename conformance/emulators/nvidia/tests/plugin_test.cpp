// SPDX-License-Identifier: Apache-2.0
// The plugin over the emulated driver: the reason of every driver that cannot be used, and that nothing that failed, or that
// the driver lies about, is told as well done.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "conformance/emulators/nvidia/tests/opened.hpp"
#include "plugins/stream/tests/hung.hpp"

namespace hbf::nvidia {
namespace {

using emulated::cuda::test::end_of;
using emulated::cuda::test::passes_in_child;
using emulated::cuda::test::start_child;

struct Bad {
    const char *faults;
    hbf_status status;
    const char *begin, *word;
};

// What a survey says, in a process that never starts the driver itself.
void expect(const Bad &bad) {
    const sdk::Failure failure = refusal([] { (void)survey(""); });
    EXPECT_EQ(failure.status, bad.status) << failure.message;
    EXPECT_TRUE(failure.message.starts_with(bad.begin)) << failure.message;
    EXPECT_NE(failure.message.find(bad.word), std::string::npos) << failure.message;
}

TEST(NvidiaDriver, EveryBadOneHasItsReason) {
    const Bad all[] = {
        {"stub-library", HBF_UNAVAILABLE, "driver_stub:", "LD_LIBRARY_PATH"},
        {"old-driver", HBF_UNSUPPORTED, "driver_too_old:", "CUDA 10.1, 12.0 is the least"},
        {"garbage-version", HBF_UNSUPPORTED, "driver_too_old:", "which is no version"},
        {"missing-symbol", HBF_UNSUPPORTED, "driver_too_old:", "cuStreamWaitEvent"},
        {"no-device", HBF_UNAVAILABLE, "no_device:", "the driver finds none"},
        {"init-permission", HBF_PERMISSION, "permission_denied:", "(304)"},
        {"init-fails", HBF_UNAVAILABLE, "no_device:", "nvidia-uvm"},
        {"init-fails:value=802", HBF_UNAVAILABLE, "no_device:", "nvidia-fabricmanager"},
        {"init-fails:value=803", HBF_UNSUPPORTED, "driver_too_old:", "libcuda.so"},
        {"init-fails:value=807", HBF_UNAVAILABLE, "no_device:", "MPS server is not ready"},
        {"init-fails:value=808", HBF_BUSY, "device_busy:", "as many clients as it takes"},
        {"init-fails:value=46", HBF_BUSY, "device_busy:", "nvidia-smi -c DEFAULT"},
        {"init-crashes", HBF_UNAVAILABLE, "no_device:", "SIGSEGV"},
    };
    for (const Bad &bad : all) passes_in_child(bad.faults, [&] { expect(bad); });
}

// Both at once: each takes as long as the plugin waits.
TEST(NvidiaDriver, OneThatNeverAnswersAndADeviceThatDoesNoWorkAreGivenUp) {
    const pid_t silent =
        start_child("init-hangs", [] { expect({"", HBF_UNAVAILABLE, "no_device:", "did not answer in time"}); });
    const pid_t idle = start_child("never-completes", [] {
        const sdk::Failure failure = refusal([] { const Opened opened; });
        EXPECT_EQ(failure.status, HBF_DEVICE_LOST);
        EXPECT_NE(failure.message.find("does no work"), std::string::npos) << failure.message;
    });
    EXPECT_EQ(end_of(silent), 0);
    EXPECT_EQ(end_of(idle), 0);
}

TEST(NvidiaDriver, MasksAndInstancesAreSaid) {
    passes_in_child("", [] {
        setenv("CUDA_VISIBLE_DEVICES", "1,7", 1);
        const Survey some = survey("");
        ASSERT_EQ(some.devices.size(), 1u);
        EXPECT_STREQ(some.devices[0].info.id, "gpu-0000:43:00.0");
    });
    passes_in_child("", [] {
        setenv("CUDA_VISIBLE_DEVICES", "7", 1);
        expect({"", HBF_UNAVAILABLE, "no_device: none that CUDA_VISIBLE_DEVICES=\"7\" admits", "NVML knows GPU-"});
        expect({"", HBF_UNAVAILABLE, "no_device:", "remedy: unset it"});
    });
    constexpr const char *cut = "[device.texts]\nmig = \"empty\"\n";
    passes_in_child("", [] { expect({"", HBF_UNAVAILABLE, "no_device:", "nvidia-smi mig -cgi"}); }, cut);
    passes_in_child(
        "",
        [] {
            setenv("CUDA_VISIBLE_DEVICES", "0", 1);
            expect({"", HBF_UNAVAILABLE, "no_device:", "MIG-<UUID>"});
        },
        cut);
}

TEST(NvidiaPeers, WhatTheDriverLiesAboutIsNoTier) {
    passes_in_child("", [] {
        const Opened opened{Options{}};
        ASSERT_EQ(opened.instance->tier_count(), 3u) << opened.logged;
        EXPECT_EQ(opened.tier(1).media, HBF_MEDIA_PEER);
        EXPECT_NE(opened.tier(1).access & HBF_ACCESS_DEVICE, 0u) << opened.logged;
    });
    for (const char *const fault : {"peer-lies", "peer-drops-writes", "iommu-redirect"})
        passes_in_child(fault, [] {
            const Opened opened{Options{}};
            EXPECT_EQ(opened.instance->tier_count(), 2u);
            EXPECT_NE(opened.logged.find("it does not hold"), std::string::npos) << opened.logged;
            EXPECT_NE(opened.logged.find("the write is lost"), std::string::npos) << opened.logged;
        });
    passes_in_child("peer-kernel-drops", [] {
        const Opened opened{Options{}};
        ASSERT_EQ(opened.instance->tier_count(), 3u) << opened.logged;
        EXPECT_EQ(opened.tier(1).access, uint32_t{HBF_ACCESS_DMA});
    });
}

TEST(NvidiaDriver, ADeviceWhoseBytesComeBackWrongIsNotOpened) {
    for (const char *const fault : {"coherence-lies", "early-completion:value=2000", "lost-copy", "stuck", "ecc-silent"})
        passes_in_child(fault, [] {
            const sdk::Failure failure = refusal([] { const Opened opened; });
            EXPECT_EQ(failure.status, HBF_UNAVAILABLE);
            EXPECT_NE(failure.message.find("it does not hold: byte "), std::string::npos) << failure.message;
            EXPECT_NE(failure.message.find("remedy: "), std::string::npos) << failure.message;
        });
}

// Nothing is wrong with the bytes of the device then: it serves without, and says so.
TEST(NvidiaMemory, OfTheHostThatCannotBeTriedIsNoTier) {
    passes_in_child("oom-host", [] {
        const Opened opened;
        EXPECT_EQ(opened.instance->tier_count(), 1u);
        EXPECT_NE(opened.logged.find("no tier in the host's memory: it could not be tried"), std::string::npos)
            << opened.logged;
        std::vector<char> memory(8192);
        const sdk::Failure failure = refusal([&] { opened.instance->register_host(memory.data(), memory.size()); });
        EXPECT_EQ(failure.status, HBF_UNSUPPORTED);
        EXPECT_NE(failure.message.find("could not be tried"), std::string::npos) << failure.message;
    });
}

TEST(NvidiaMemory, WhatRunsOutIsExhaustedAndNothingIsLost) {
    passes_in_child("oom:after=2,count=2;oom-host:after=3,count=1", [] {
        const Opened opened;
        ASSERT_EQ(opened.instance->tier_count(), 2u) << opened.logged;
        for (const uint32_t tier : {0u, 1u}) {
            const uint64_t before = opened.tier(tier).available;
            const hbf_region first = opened.allocate(tier, mebibyte).region;
            const uint64_t taken = opened.tier(tier).available;
            const sdk::Failure failure = refusal([&] { opened.allocate(tier, mebibyte); });
            EXPECT_EQ(failure.status, HBF_EXHAUSTED) << failure.message;
            EXPECT_EQ(opened.tier(tier).available, taken);
            opened.instance->free(first);
            EXPECT_EQ(opened.tier(tier).available, before);
        }
        EXPECT_EQ(refusal([&] { opened.allocate(0, uint64_t{1} << 50); }).status, HBF_EXHAUSTED);
    });
}

TEST(NvidiaQueue, ADeviceThatIsLostInACopyFailsItsValueAndAllAfter) {
    passes_in_child("lost-device:after=12", [] {
        const Opened opened;
        stream::expect_lost(*opened.instance);
    });
}

TEST(NvidiaQueue, ADeviceThatHangsDoesNotHoldUpTheEndOfItsInstance) {
    passes_in_child("never-completes:after=60", [] {
        Opened opened;
        stream::Logged logged;
        const std::string said = stream::end_while_hung(std::move(opened.instance), logged);
        EXPECT_NE(said.find(stream::hung_end), std::string::npos) << said;
    });
}

TEST(NvidiaQueue, AnUncorrectableErrorIsNamedAndCounted) {
    passes_in_child("ecc:after=3,count=1", [] { // what is tried at open reads three times
        const Opened opened;
        const hbf_region device = opened.allocate(0, mebibyte).region, host = opened.allocate(1, mebibyte).region;
        const auto queue = opened.instance->create_queue({});
        const uint64_t value = Opened::submit(*queue, {Opened::copy(host, device, mebibyte)});
        ASSERT_TRUE(queue->wait(value, UINT64_MAX));
        EXPECT_EQ(queue->poll().failed, value);
        ASSERT_TRUE(queue->failure());
        EXPECT_NE(queue->failure()->message.find("CUDA_ERROR_ECC_UNCORRECTABLE (214)"), std::string::npos)
            << queue->failure()->message;
        // 0: it failed before the event behind it was recorded, and that call says so, which could be any work's failure.
        EXPECT_TRUE(queue->failure()->region == host || queue->failure()->region == 0);
        const auto readings = opened.instance->health()->read();
        const auto found = std::find_if(readings.begin(), readings.end(), [](const hbf_reading &reading) {
            return std::string_view(reading.name) == "ecc.uncorrected";
        });
        ASSERT_NE(found, readings.end());
        EXPECT_EQ(found->value, 1u);
    });
}

TEST(NvidiaKernels, AnImageThatIsRefusedAndACompilerThatFailsAreSaid) {
    const auto found = [](const char *word) {
        const Opened opened;
        hbf_kernel_info info{};
        const sdk::Failure failure =
            refusal([&] { static_cast<sdk::Instance &>(*opened.instance).kernels()->find("copy/1", info); });
        EXPECT_EQ(failure.status, HBF_UNAVAILABLE) << failure.message;
        EXPECT_NE(failure.message.find(word), std::string::npos) << failure.message;
    };
    passes_in_child("image-refused", [&] { found("CUDA_ERROR_NO_BINARY_FOR_GPU (209)"); });
    passes_in_child("compile-fails", [&] { found("does not compile for sm_90"); });
}

// The calls of a process that copies so many pieces there and back, a batch each.
std::string calls_of_batch(const Options &options, uint64_t pieces) {
    const std::string file = testing::TempDir() + "batch-" + std::to_string(getpid());
    setenv("HBF_EMULATE_COUNTS", file.c_str(), 1);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        emulated::cuda::test::set_up();
        bool good = false;
        try {
            constexpr uint64_t piece = 16384;
            const Opened opened(options);
            const hbf_region_info from = opened.allocate(1, pieces * piece), to = opened.allocate(1, pieces * piece);
            const hbf_region device = opened.allocate(0, pieces * piece).region;
            for (uint64_t i = 0; i < pieces * piece; ++i)
                static_cast<unsigned char *>(from.address)[i] = static_cast<unsigned char>(i * 7 + i / 4093);
            const auto queue = opened.instance->create_queue({});
            for (const auto &[dst, src] : {std::pair(device, from.region), std::pair(to.region, device)}) {
                std::vector<hbf_command> commands;
                for (uint64_t i = 0; i < pieces; ++i) commands.push_back(Opened::copy(dst, src, piece, i * piece));
                queue->wait(Opened::submit(*queue, commands), UINT64_MAX);
            }
            good = queue->poll().failed == 0 && std::memcmp(from.address, to.address, pieces * piece) == 0;
        } catch (const sdk::Failure &failure) {
            std::fprintf(stderr, "%s\n", failure.message.c_str());
        }
        exit(good ? 0 : 1); // counts are told at the end
    }
    EXPECT_EQ(end_of(child), 0);
    unsetenv("HBF_EMULATE_COUNTS");
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    unlink(file.c_str());
    return text.str();
}

TEST(NvidiaQueue, ABatchOf1024CopiesIsOneCallOfTheDriverAndOneEvent) {
    constexpr int tried = 6; // copies at open
    const std::string batched = calls_of_batch(alone(), 1024);
    EXPECT_NE(batched.find("cuMemcpyBatchAsync called 2\n"), std::string::npos) << batched;
    EXPECT_NE(batched.find("cuEventRecord called 2\n"), std::string::npos) << batched;
    EXPECT_NE(batched.find("cuMemcpyAsync called " + std::to_string(tried) + "\n"), std::string::npos) << batched;
    EXPECT_EQ(batched.find("unsupported"), std::string::npos) << batched;
    Options one_by_one = alone();
    one_by_one.batches = Choice::off;
    const std::string single = calls_of_batch(one_by_one, 64);
    EXPECT_EQ(single.find("cuMemcpyBatchAsync"), std::string::npos) << single;
    EXPECT_NE(single.find("cuMemcpyAsync called " + std::to_string(tried + 128) + "\n"), std::string::npos) << single;
    EXPECT_NE(single.find("cuEventRecord called 2\n"), std::string::npos) << single;
}

} // namespace
} // namespace hbf::nvidia
