// SPDX-License-Identifier: Apache-2.0
// The plugin's parts through the loader of this machine over the emulated driver: bad drivers, and the order of a queue's
// values on lists that have none. Skipped where there is no loader.
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "hbf/abi/queue.h"
#include "plugins/level_zero/discovery.hpp"
#include "plugins/level_zero/instance.hpp"

namespace hbf::level_zero {
namespace {

class Emulated : public testing::Test {
protected:
    Emulated() {
        setenv("ZE_ENABLE_ALT_DRIVERS", HBF_EMULATED_LEVEL_ZERO, 1);
        setenv("HBF_EMULATE_PROFILE", HBF_EMULATED_PROFILE, 1);
        unsetenv("HBF_EMULATE_FAULTS");
    }
    void SetUp() override {
        if (!::dlopen(library_name, RTLD_NOW | RTLD_LOCAL)) GTEST_SKIP() << library_name << " is not installed";
    }
    // Asked in a process of its own: this one's machine is not made by it.
    static sdk::Failure refusal(const char *faults) {
        setenv("HBF_EMULATE_FAULTS", faults, 1);
        try {
            (void)survey("");
        } catch (const sdk::Failure &failure) {
            return failure;
        }
        return {HBF_OK, "it was not refused"};
    }
    static void expect(const char *faults, hbf_status status, const char *begins) {
        const sdk::Failure failure = refusal(faults);
        EXPECT_EQ(failure.status, status) << faults << ": " << failure.message;
        EXPECT_TRUE(failure.message.starts_with(begins)) << faults << ": " << failure.message;
    }
};

// Before any test that opens a device: from then on the driver is in this process.
TEST_F(Emulated, ABadDriverHasAReason) {
    expect("init-fails", HBF_UNAVAILABLE, "driver_absent: ");
    expect("no-device", HBF_UNAVAILABLE, "driver_absent: ");
    expect("init-crashes", HBF_UNAVAILABLE, "no_device: a Level Zero driver crashed (ended by SIG");
    expect("init-permission", HBF_PERMISSION, "permission_denied: ");
    expect("old-driver", HBF_UNSUPPORTED, "driver_too_old: ");
    expect("garbage-version", HBF_UNAVAILABLE, "no_device: ");
}

TEST_F(Emulated, AnotherMachinesInventoryHasNoDevice) {
    EXPECT_THROW((void)survey("/nonexistent-root-of-a-test"), sdk::Failure);
    EXPECT_EQ(survey("").devices.size(), 2u);
}

struct Device {
    Device() {
        const Survey all = survey("");
        const Functions &ze = library();
        opened = std::make_unique<ZeInstance>(ze, open_device(ze, all.devices.front(), all, ""), Options{},
                                              uint64_t{4} << 30, 0, sdk::Log());
    }
    hbf_region_info alloc(uint32_t tier, uint64_t size) {
        sdk::AllocRequest request;
        request.tier = tier;
        request.size = size;
        return opened->alloc(request);
    }
    std::unique_ptr<sdk::Queue> queue() { return opened->create_queue({}); }

    std::unique_ptr<ZeInstance> opened;
};

uint64_t submit(sdk::Queue &queue, const std::vector<hbf_command> &commands) {
    const hbf_batch batch{sizeof batch, sizeof(hbf_command), commands.data(), commands.size()};
    return queue.submit(sdk::BatchView(batch));
}

hbf_command copy(const hbf_region_info &to, uint64_t to_at, const hbf_region_info &from, uint64_t from_at, uint64_t size) {
    hbf_command command{};
    command.kind = HBF_COMMAND_COPY;
    command.u.copy = {to.region, to_at, from.region, from_at, size, nullptr};
    return command;
}

// A large write and then a small one to its end, both from pinned memory: what overtakes on an immediate list. And back by
// the other engine, through a copy inside the device.
TEST_F(Emulated, ValuesAreInOrderOverListsThatAreNot) {
    Device device;
    constexpr uint64_t size = 1 << 20, small = 4096;
    const hbf_region_info from = device.alloc(1, size), late = device.alloc(1, small), back = device.alloc(1, size),
                          first = device.alloc(0, size), second = device.alloc(0, size);
    const std::unique_ptr<sdk::Queue> queue = device.queue();
    for (unsigned round = 1; round <= 40; ++round) {
        std::memset(from.address, static_cast<int>(round), size);
        std::memset(late.address, static_cast<int>(round + 100), small);
        submit(*queue, {copy(first, 0, from, 0, size)});
        submit(*queue, {copy(first, size - small, late, 0, small)});
        submit(*queue, {copy(second, 0, first, 0, size)});
        const uint64_t last = submit(*queue, {copy(back, 0, second, 0, size)});
        ASSERT_TRUE(queue->wait(last, UINT64_MAX));
        ASSERT_EQ(queue->poll().failed, 0u);
        ASSERT_EQ(std::memcmp(back.address, from.address, size - small), 0) << "round " << round;
        const auto *const end = static_cast<const std::byte *>(back.address) + size - small;
        ASSERT_EQ(std::memcmp(end, late.address, small), 0) << "round " << round;
    }
}

TEST_F(Emulated, AQueueTakesMoreValuesThanItHasEvents) {
    Device device;
    constexpr uint64_t size = 65536;
    const hbf_region_info from = device.alloc(1, size), to = device.alloc(0, size);
    const std::unique_ptr<sdk::Queue> one = device.queue(), other = device.queue();
    // Many more values than a queue has events.
    for (unsigned round = 0; round < 600; ++round) {
        const uint64_t last = submit(*one, {copy(to, 0, from, 0, size)});
        ASSERT_TRUE(one->wait(last, UINT64_MAX));
        ASSERT_TRUE(other->wait(submit(*other, {copy(from, 0, to, 0, size)}), UINT64_MAX));
    }
    EXPECT_TRUE(one->idle() && other->idle());
}

TEST_F(Emulated, RegionsAreZeroAndRefusedWithTheirReason) {
    Device device;
    const hbf_region_info pinned = device.alloc(1, 4096);
    EXPECT_EQ(std::count(static_cast<char *>(pinned.address), static_cast<char *>(pinned.address) + 4096, 0), 4096);
    sdk::AllocRequest pages;
    pages.size = 4096;
    pages.pages = HBF_PAGES_1G;
    EXPECT_THROW(device.opened->alloc(pages), sdk::Failure);
    sdk::AllocRequest huge;
    huge.size = uint64_t{1} << 50;
    EXPECT_THROW(device.opened->alloc(huge), sdk::Failure);
    EXPECT_THROW((void)parse_options({{"devize", "0"}}), sdk::Failure);
}

} // namespace
} // namespace hbf::level_zero
