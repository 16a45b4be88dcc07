// SPDX-License-Identifier: Apache-2.0
// Loaders, drivers and devices that are no good: a reason each, and nothing hangs or crashes here.
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "kernels/device/catalogue.hpp"
#include "plugins/level_zero/tests/scene.hpp"
#include "plugins/stream/tests/hung.hpp"
#include "plugins/stream/tests/seen.hpp"

namespace hbf::level_zero {
namespace {

using stream::Logged;
using stream::Seen;

struct BadLoader {
    const char *file, *reason, *detail;
    hbf_status status;
};
class BadLoaders : public testing::TestWithParam<BadLoader> {};

TEST_P(BadLoaders, AreRefusedWithTheReason) {
    const BadLoader &bad = GetParam();
    try {
        (void)load_library(bad.file);
        FAIL() << "it was taken";
    } catch (const sdk::Failure &failure) {
        EXPECT_EQ(failure.status, bad.status);
        EXPECT_TRUE(failure.message.starts_with(bad.reason)) << failure.message;
        EXPECT_NE(failure.message.find(bad.detail), std::string::npos) << failure.message;
        EXPECT_NE(failure.message.find("remedy:"), std::string::npos) << failure.message;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLoaders,
    testing::Values(BadLoader{"/nowhere/libze_loader.so.1", "driver_absent: ", "No such file", HBF_UNAVAILABLE},
                    BadLoader{HBF_NO_LIBRARY, "driver_absent: ", "invalid ELF header", HBF_UNAVAILABLE},
                    BadLoader{HBF_BAD_LOADER "1.stub", "driver_too_old: ", "zeInit, zeDriverGet, ", HBF_UNSUPPORTED},
                    BadLoader{HBF_BAD_LOADER "2.stub", "driver_too_old: ", "zeCommandListAppendBarrier, 1 in all",
                              HBF_UNSUPPORTED}));

Seen seen(const char *faults, const std::function<std::string()> &show) {
    return stream::seen("l0", faults, show);
}

std::string ids() {
    std::string out;
    for (const Found &found : survey("", std::chrono::seconds(2)).devices) out += fmt::format("{} ", found.info.id);
    return out;
}

class BadDriver : public UnderTheLoader {
protected:
    static void expect(const char *faults, hbf_status status, const char *begins, const char *has = "") {
        const Seen bad = seen(faults, ids);
        EXPECT_EQ(bad.status, status) << faults << ": " << bad.text;
        EXPECT_TRUE(bad.text.starts_with(begins)) << faults << ": " << bad.text;
        EXPECT_TRUE(bad.has(has)) << faults << ": " << bad.text;
    }
};

TEST_F(BadDriver, AGoodOneHasBothDevices) {
    expect("", HBF_OK, "gpu-0000:29:00.0 gpu-0000:9a:00.0");
}

TEST_F(BadDriver, HasAReason) {
    expect("init-fails", HBF_UNAVAILABLE, "driver_absent: ");
    expect("no-device", HBF_UNAVAILABLE, "driver_absent: ");
    expect("init-crashes", HBF_UNAVAILABLE, "no_device: a Level Zero driver crashed (");
    expect("init-hangs", HBF_UNAVAILABLE, "no_device: a Level Zero driver did not answer in time");
    expect("init-permission", HBF_PERMISSION, "permission_denied: ");
    expect("old-driver", HBF_UNSUPPORTED, "driver_too_old: ");
    expect("garbage-version", HBF_UNAVAILABLE, "no_device: ", "which does not exist");
    expect("stub-library", HBF_UNAVAILABLE, "driver_stub: ", "ZE_ENABLE_NULL_DRIVER");
}

TEST_F(BadDriver, AMaskIsNamedWhereItHidesAll) {
    const auto masked = [](const char *mask) {
        return seen("", [&] {
            setenv("ZE_AFFINITY_MASK", mask, 1);
            return ids();
        });
    };
    EXPECT_EQ(masked("1").text, "gpu-0000:9a:00.0 ");
    const Seen none = masked("7");
    EXPECT_EQ(none.status, HBF_UNAVAILABLE);
    EXPECT_TRUE(none.has("ZE_AFFINITY_MASK is \"7\"")) << none.text;
}

class BadDevice : public UnderTheLoader {};

Seen opened(const char *faults) {
    return seen(faults, [] {
        const Device device;
        return fmt::format("{} tiers", device.opened->tier_count());
    });
}

TEST_F(BadDevice, AGoodOneOpens) {
    EXPECT_EQ(opened("").text, "3 tiers");
}

TEST_F(BadDevice, ADriverThatLacksAFunctionIsNotedWhenItIsOpened) {
    const Seen bad = opened("missing-symbol");
    EXPECT_EQ(bad.status, HBF_UNSUPPORTED) << bad.text;
    EXPECT_TRUE(bad.has("zeCommandListAppendBarrier")) << bad.text;
}

TEST_F(BadDevice, OneThatLiesAboutCoherenceIsRefused) {
    const Seen bad = opened("coherence-lies");
    EXPECT_EQ(bad.status, HBF_UNAVAILABLE) << bad.text;
    EXPECT_TRUE(bad.has("did not come back from the device")) << bad.text;
}

TEST_F(BadDevice, OneThatCorruptsIsNotOpened) {
    for (const char *fault : {"lost-copy", "drop-tail"}) {
        const Seen bad = opened(fault);
        EXPECT_EQ(bad.status, HBF_UNAVAILABLE) << fault << ": " << bad.text;
    }
}

TEST_F(BadDevice, MemoryThatRunsOutIsSaidAndTheRestWorks) {
    const Seen bad = seen("oom:after=6,count=2", [] {
        Device device;
        std::string out;
        for (int i = 0; i < 8; ++i) try {
                const hbf_region_info region = device.alloc(0, 65536);
                out += "+";
                device.opened->free(region.region);
            } catch (const sdk::Failure &failure) {
                out += fmt::format("[{} {}]", failure.status, failure.message);
            }
        return out;
    });
    ASSERT_EQ(bad.status, HBF_OK) << bad.text;
    const std::string reason = fmt::format("[{} device0: zeMemAllocDevice of 65536 bytes: "
                                           "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003)]",
                                           static_cast<int>(HBF_EXHAUSTED));
    EXPECT_TRUE(bad.has(reason + reason + "+")) << bad.text;
    EXPECT_TRUE(bad.text.starts_with("+")) << bad.text;
}

// Batches until one does not end well, and how that looked. The device stays: a driver that never ends its work would hold
// up whoever waits for its end.
std::string until_bad() {
    auto *const device = new Device;
    sdk::Queue *const queue = device->queue().release();
    const hbf_region_info from = device->alloc(1, 65536), to = device->alloc(0, 65536);
    for (int round = 0; round < 500; ++round) {
        const uint64_t value = submit(*queue, {copy(to, 0, from, 0, 65536)});
        if (!queue->wait(value, 2'000'000'000)) return "late";
        if (queue->poll().failed == 0) continue;
        std::string out = fmt::format("{} {}", queue->failure()->status, queue->failure()->message);
        try {
            (void)device->alloc(0, 65536);
            out += ", and gives memory still";
        } catch (const sdk::Failure &failure) {
            out += fmt::format(", then {}", failure.status);
        }
        delete queue; // a lost device keeps nobody waiting
        return out;
    }
    return "well";
}

TEST_F(BadDevice, OneThatIsLostInACopySaysSo) {
    const Seen bad = seen("lost-device:after=100", until_bad);
    ASSERT_EQ(bad.status, HBF_OK) << bad.text;
    const int lost = HBF_DEVICE_LOST;
    // By the copy itself, or where the batch behind it is put together: whichever comes first.
    const bool by_copy =
        bad.text.starts_with(fmt::format("{} the command failed on the device: ZE_RESULT_ERROR_DEVICE_LOST", lost));
    const bool by_batch = bad.text.starts_with(
        fmt::format("{} the runtime refuses what tells of a batch's end: ZE_RESULT_ERROR_DEVICE_LOST", lost));
    EXPECT_TRUE(by_copy || by_batch) << bad.text;
    EXPECT_TRUE(bad.text.ends_with(fmt::format(", then {}", lost))) << bad.text;
}

TEST_F(BadDevice, WorkThatNeverEndsIsNeverSaidToBeOver) {
    EXPECT_EQ(seen("never-completes:after=100,count=1", until_bad).text, "late");
    EXPECT_EQ(seen("", until_bad).text, "well");
}

TEST_F(BadDevice, OneThatHangsDoesNotHoldUpTheEndOfItsInstance) {
    const Seen bad = seen("never-completes:after=100", [] {
        Device device;
        Logged logged;
        return stream::end_while_hung(std::move(device.opened), logged);
    });
    EXPECT_TRUE(bad.has(stream::hung_end)) << bad.text;
}

Seen built(const char *faults) {
    return seen(faults, [] {
        const Context context(library(), open_first());
        Logged logged;
        try {
            KernelModules modules(context, logged.log());
            (void)modules.load(kernels::device::catalogue().front());
        } catch (const sdk::Failure &failure) {
            return fmt::format("{} {}\n{}", failure.status, failure.message, logged.text);
        }
        return std::string("built");
    });
}

TEST_F(BadDevice, ACompilerThatRefusesTheKernelsIsQuoted) {
    if (spirv_image().empty()) GTEST_SKIP() << "no SPIR-V compiler when this was built";
    EXPECT_EQ(built("").text, "built");
    const Seen failed = built("compile-fails"), other = built("image-refused");
    EXPECT_TRUE(failed.text.starts_with(fmt::format("{} ", static_cast<int>(HBF_UNAVAILABLE)))) << failed.text;
    EXPECT_TRUE(failed.has("ZE_RESULT_ERROR_MODULE_BUILD_FAILURE")) << failed.text;
    EXPECT_TRUE(failed.has("backend compiler failed")) << "the log has all of it: " << failed.text;
    EXPECT_TRUE(other.has("ZE_RESULT_ERROR_INVALID_NATIVE_BINARY")) << other.text;
    EXPECT_TRUE(other.has("the binary is for another device")) << other.text;
}

} // namespace
} // namespace hbf::level_zero
