// SPDX-License-Identifier: Apache-2.0
// The plugin over the emulated runtime: the reason of every library that cannot be used, and that nothing that failed is
// told as well done.
#include <csignal>
#include <cstring>
#include <fstream>

#include <dlfcn.h>

#include "conformance/emulators/cambricon/tests/child.hpp"
#include "plugins/cambricon/instance.hpp"
#include "plugins/stream/tests/hung.hpp"
#include "plugins/stream/tests/on_instance.hpp"

namespace hbf::cambricon {
namespace {

using emulated::passes_in_child;
using stream::mebibyte;
using stream::refusal;

const std::string home = HBF_CAMBRICON_HOMES; // folders with lib64/libcnrt.so in them

void use(const std::string &name) {
    setenv("NEUWARE_HOME", (home + "/" + name).c_str(), 1);
}

// What a look at the devices says, from a process without CNRT.
void expect(const std::string &name, const std::string &faults, hbf_status status, const std::string &begin,
            const std::string &word) {
    passes_in_child(faults, [&] {
        use(name);
        const sdk::Failure failure = refusal([] { (void)look("/"); });
        EXPECT_EQ(failure.status, status) << failure.message;
        EXPECT_EQ(failure.message.substr(0, begin.size()), begin) << failure.message;
        EXPECT_NE(failure.message.find(word), std::string::npos) << failure.message;
        EXPECT_EQ(::dlopen("libcnrt.so", RTLD_NOW | RTLD_NOLOAD), nullptr) << "it came into this process";
    });
}

TEST(CambriconLook, TellsTheDevices) {
    passes_in_child("", [] {
        use("good");
        const Look found = look("/");
        ASSERT_EQ(found.devices.size(), 1u);
        const hbf_device_info &info = found.devices[0];
        EXPECT_STREQ(info.id, "mlu-0000:4f:00.0");
        EXPECT_STREQ(info.name, "MLU370-X4 (emulated)");
        EXPECT_STREQ(info.driver, "CNRT 6.14.1, CNDrv 2.15.5, kernel driver 5.10.22");
        EXPECT_EQ(info.reality, HBF_REALITY_EMULATED);
        setenv("MLU_VISIBLE_DEVICES", "", 1);
        EXPECT_NE(refusal([] { (void)look("/"); }).message.find("MLU_VISIBLE_DEVICES"), std::string::npos);
    });
}

TEST(CambriconLook, EveryBadLibraryHasItsReason) {
    expect("nothing", "", HBF_UNAVAILABLE, "driver_absent:", "remedy: install");
    expect("lacking", "", HBF_UNSUPPORTED, "driver_too_old:", "cnrtGetDeviceCount");
    expect("broken", "", HBF_UNAVAILABLE, "driver_absent:", "libcnrt.so");
    expect("good", "old-driver", HBF_UNSUPPORTED, "driver_too_old:", "CNRT 5.10.2");
    expect("good", "garbage-version", HBF_INTERNAL, "", "no version");
    expect("good", "stub-library", HBF_UNAVAILABLE, "driver_stub:", "100050");
    expect("good", "no-device", HBF_UNAVAILABLE, "no_device:", "");
    expect("good", "init-permission", HBF_PERMISSION, "permission_denied:", "/dev/cambricon_dev");
    expect("good", "init-fails", HBF_UNAVAILABLE, "driver_absent:", "modprobe");
    expect("good", "init-fails:value=100009", HBF_UNSUPPORTED, "driver_too_old:", "100009");
    expect("good", "init-crashes", HBF_INTERNAL, "", "SIGSEGV");
    expect("good", "init-hangs", HBF_INTERNAL, "", "did not answer in time");
}

TEST(CambriconLook, ADeviceThatAnotherMachineHasIsNotThisOnes) {
    passes_in_child("", [] {
        use("good");
        const sdk::Failure failure = refusal([] { (void)look("/nonexistent-root-of-a-test"); });
        EXPECT_EQ(failure.message.substr(0, 10), "no_device:") << failure.message;
        EXPECT_NE(failure.message.find("0000:4f:00.0"), std::string::npos) << failure.message;
    });
}

struct Opened : stream::OnInstance<CambriconInstance> {
    Opened() {
        use("good");
        instance =
            std::make_unique<CambriconInstance>(library(), survey("/").devices.at(0).facts, CambriconOptions{}, log.log());
    }
};

// The whole point: the notifier of that batch says that all is well.
TEST(CambriconQueue, AFailedCopyFailsItsValueAndNoneBefore) {
    passes_in_child("fail:after=3,count=1",
                    [] { // one of them is the new region's own zeros
                        const Opened opened;
                        const hbf_region device = opened.allocate(0, mebibyte).region,
                                         host = opened.allocate(1, mebibyte).region;
                        const auto queue = opened.instance->create_queue({});
                        uint64_t last = 0;
                        for (int i = 0; i < 8; ++i) last = Opened::submit(*queue, {Opened::copy(device, host, mebibyte)});
                        ASSERT_TRUE(queue->wait(last, UINT64_MAX));
                        const sdk::Progress progress = queue->poll();
                        EXPECT_EQ(progress.completed, last);
                        EXPECT_EQ(progress.failed, 3u);
                        ASSERT_TRUE(queue->failure());
                        EXPECT_NE(queue->failure()->message.find("cnrtErrorQueue (100060)"), std::string::npos)
                            << queue->failure()->message;
                        EXPECT_EQ(queue->failure()->region, device);
                    });
}

TEST(CambriconQueue, ACopyThroughPinnedMemoryThatFailsFailsItsValue) {
    passes_in_child("fail:after=2,count=1", [] { // the second or third of four pieces
        const Opened opened;
        std::vector<unsigned char> memory(4 * mebibyte);
        const hbf_region host = opened.instance->register_host(memory.data(), memory.size()).region;
        const hbf_region device = opened.allocate(0, memory.size()).region;
        const auto queue = opened.instance->create_queue({});
        const uint64_t value = Opened::submit(*queue, {Opened::copy(device, host, memory.size())});
        ASSERT_TRUE(queue->wait(value, UINT64_MAX));
        EXPECT_EQ(queue->poll().failed, value);
        opened.instance->free(host);
        opened.instance->free(device);
    });
}

TEST(CambriconQueue, AnUncorrectableErrorIsDataLossAndALostDeviceIsLost) {
    passes_in_child("ecc:count=1", [] {
        const Opened opened;
        const hbf_region device = opened.allocate(0, mebibyte).region, host = opened.allocate(1, mebibyte).region;
        const auto queue = opened.instance->create_queue({});
        const uint64_t value = Opened::submit(*queue, {Opened::copy(host, device, mebibyte)});
        ASSERT_TRUE(queue->wait(value, UINT64_MAX));
        EXPECT_EQ(queue->poll().status, HBF_DATA_LOSS);
        const auto readings = opened.instance->health()->read();
        const auto found = std::find_if(readings.begin(), readings.end(), [](const hbf_reading &reading) {
            return std::string_view(reading.name) == "ecc.uncorrected";
        });
        ASSERT_NE(found, readings.end());
        EXPECT_EQ(found->value, 1u);
    });
    passes_in_child("lost-device:after=4", [] {
        const Opened opened;
        stream::expect_lost(*opened.instance);
    });
}

TEST(CambriconQueue, WhatNeverEndsRunsIntoTheDeadlineAndKeepsItsRegions) {
    passes_in_child("never-completes:after=4", [] {
        const auto *const opened = new Opened; // its end would wait for the device
        const hbf_region device = opened->allocate(0, mebibyte).region, host = opened->allocate(1, mebibyte).region;
        sdk::Queue *const queue = opened->instance->create_queue({}).release();
        uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value = Opened::submit(*queue, {Opened::copy(device, host, mebibyte)});
        EXPECT_FALSE(queue->wait(value, 50'000'000));
        EXPECT_LT(queue->poll().completed, value);
        EXPECT_EQ(refusal([&] { opened->instance->free(device); }).status, HBF_BUSY);
    });
}

TEST(CambriconQueue, ADeviceThatHangsDoesNotHoldUpTheEndOfItsInstance) {
    passes_in_child("never-completes:after=20", [] {
        Opened opened;
        stream::Logged logged;
        const std::string said = stream::end_while_hung(std::move(opened.instance), logged);
        EXPECT_NE(said.find(stream::hung_end), std::string::npos) << said;
    });
}

TEST(CambriconMemory, ADeviceThatHangsDoesNotHoldUpWhoWantsSome) {
    passes_in_child("never-completes", [] {
        use("good");
        const Library &from = library();
        auto &tiers = *new Tiers(from.cnrt, survey("/").devices.at(0).facts, CambriconOptions{}); // as what is left needs it
        tiers.patience = std::chrono::milliseconds(50);
        sdk::AllocRequest request;
        request.size = mebibyte;
        const sdk::Failure failure = refusal([&] { (void)tiers.make(request); });
        EXPECT_EQ(failure.status, HBF_DEVICE_LOST);
        EXPECT_NE(failure.message.find("got no further in 50 ms"), std::string::npos) << failure.message;
    });
}

TEST(CambriconMemory, WhatRunsOutIsExhaustedAndNothingIsLost) {
    passes_in_child("oom:after=1,count=2;oom-host:after=1,count=1", [] {
        const Opened opened;
        const auto available = [&](uint32_t tier) {
            hbf_tier_info info{};
            opened.instance->describe_tier(tier, info);
            return info.available;
        };
        for (const uint32_t tier : {0u, 1u}) {
            const hbf_region first = opened.allocate(tier, mebibyte).region;
            const uint64_t before = available(tier);
            const sdk::Failure failure = refusal([&] { opened.allocate(tier, mebibyte); });
            EXPECT_EQ(failure.status, HBF_EXHAUSTED) << failure.message;
            EXPECT_EQ(available(tier), before);
            opened.instance->free(first);
            EXPECT_EQ(available(tier), before + mebibyte);
        }
        EXPECT_EQ(refusal([&] { opened.allocate(0, uint64_t{1} << 50); }).status, HBF_EXHAUSTED);
    });
}

// Memory that CNRT did not pin never reaches an asynchronous copy of CNRT's, and every pattern arrives.
TEST(CambriconQueue, RegisteredMemoryAndPatternsGoThroughPinnedMemory) {
    passes_in_child("", [] {
        const Opened opened;
        constexpr uint64_t size = 3 * mebibyte + 4096;
        std::vector<unsigned char> from(size), to(size);
        for (uint64_t i = 0; i < size; ++i) from[i] = static_cast<unsigned char>(i * 7 + (i >> 11));
        const hbf_region source = opened.instance->register_host(from.data(), size).region;
        const hbf_region target = opened.instance->register_host(to.data(), size).region;
        const hbf_region device = opened.allocate(0, size).region;
        const auto queue = opened.instance->create_queue({});
        const auto run = [&](const std::vector<hbf_command> &commands) {
            ASSERT_TRUE(queue->wait(Opened::submit(*queue, commands), UINT64_MAX));
            ASSERT_EQ(queue->poll().failed, 0u);
        };
        run({Opened::copy(device, source, size)});
        run({Opened::copy(target, device, size)});
        EXPECT_EQ(from, to);
        std::fill(to.begin(), to.end(), 0);
        run({Opened::copy(target, source, size)});
        EXPECT_EQ(from, to);
        for (const uint32_t width : {1u, 2u, 4u, 8u}) {
            hbf_command fill{};
            fill.kind = HBF_COMMAND_FILL;
            fill.u.fill = {device, 3, size - 5, 0x0807060504030201, width, 0};
            run({fill});
            run({Opened::copy(target, device, size)});
            uint64_t wrong = 0;
            for (uint64_t i = 0; i + 5 < size; ++i) wrong += to[3 + i] != 1 + i % width;
            EXPECT_EQ(wrong, 0u) << width;
            EXPECT_EQ(to[2], from[2]);
            EXPECT_EQ(to[size - 1], from[size - 1]);
        }
        for (const hbf_region region : {source, target, device}) opened.instance->free(region);
    });
}

TEST(CambriconInstance, AThreadKeepsTheDeviceItHadAndOptionsAreRead) {
    passes_in_child("", [] {
        const Opened opened;
        EXPECT_EQ(parse_options({{"device_bytes", "3MiB"}}).device_bytes, 3 * mebibyte);
        const sdk::Failure failure = refusal([] { (void)parse_options({{"device_byte", "3MiB"}}); });
        EXPECT_EQ(failure.status, HBF_INVALID);
        EXPECT_NE(failure.message.find("device_bytes"), std::string::npos) << failure.message;
        EXPECT_EQ(refusal([] { (void)parse_options({{"pinned_bytes", "1"}}); }).status, HBF_INVALID);
        hbf_domain_info domain{};
        static_cast<sdk::Instance &>(*opened.instance).coherence()->describe(0, domain);
        EXPECT_EQ(domain.protocol, HBF_PROTOCOL_HARDWARE);
    });
}

} // namespace
} // namespace hbf::cambricon
