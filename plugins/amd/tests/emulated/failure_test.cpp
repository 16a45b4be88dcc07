// SPDX-License-Identifier: Apache-2.0
// A device that fails, loses bytes, is lost or never ends: each value says so, and nobody waits for ever.
#include <gtest/gtest.h>

#include "plugins/amd/memory/blocks.hpp"
#include "plugins/amd/tests/emulated/scene.hpp"
#include "plugins/stream/tests/hung.hpp"

namespace hbf::amd {
namespace {

constexpr uint64_t mebibyte = 1 << 20, patience = 20'000'000'000;

struct Scene {
    Scene() {
        AmdOptions options = small();
        options.peers = false;
        device = open_first(options, sdk::Log());
        on_device = alloc(*device, 0, mebibyte).region;
        on_host = alloc(*device, 1, mebibyte).region;
        queue = device->create_queue({});
    }
    uint64_t copy_out() const { return submit(*queue, {copy_of(on_host, 0, on_device, 0, mebibyte)}); }
    // "failed STATUS MESSAGE" of the first value that failed, once `last` is over.
    std::string outcome(uint64_t last) const {
        if (!queue->wait(last, patience)) return "it never ended";
        const sdk::Progress progress = queue->poll();
        if (progress.failed == 0) return "all is well";
        const auto failure = queue->failure();
        return fmt::format("{} {} {}", progress.failed, progress.status, failure ? failure->message : "");
    }
    std::unique_ptr<AmdInstance> device;
    std::unique_ptr<sdk::Queue> queue;
    hbf_region on_device = 0, on_host = 0;
};

std::string status_of(const std::function<void()> &call) {
    try {
        call();
    } catch (const sdk::Failure &failure) {
        return fmt::format("{} {}", failure.status, failure.message);
    }
    return "taken";
}

TEST(EmulatedFailure, AFailedCopyFailsItsValueAndThoseAfterIt) {
    const Seen all = seen("mi300x", "fail:after=4,count=1", [] {
        const Scene scene;
        uint64_t last = 0;
        for (int i = 0; i < 8; ++i) {
            const std::string refused = status_of([&] { last = scene.copy_out(); });
            if (refused != "taken") return scene.outcome(last) + "; then " + refused;
        }
        return scene.outcome(last);
    });
    EXPECT_NE(all.text.find("failed on the device"), std::string::npos) << all.text;
    EXPECT_EQ(all.text.find("all is well"), std::string::npos) << all.text;
}

TEST(EmulatedFailure, AnUncorrectableErrorIsDataLoss) {
    const Seen all = seen("mi300x", "ecc:count=1", [] {
        const Scene scene;
        return scene.outcome(scene.copy_out());
    });
    EXPECT_EQ(all.text.rfind(fmt::format("1 {} ", HBF_DATA_LOSS), 0), 0u) << all.text;
}

TEST(EmulatedFailure, ADeviceThatIsGoneIsLostForAllThatFollows) {
    const Seen all = seen("mi300x", "lost-device:after=6", [] {
        Scene scene;
        uint64_t last = 0;
        for (int i = 0; i < 8; ++i)
            if (status_of([&] { last = scene.copy_out(); }) != "taken") break;
        const std::string outcome = scene.outcome(last); // before anything is asked of a device that is gone by then
        return outcome + "\n" + status_of([&] { (void)alloc(*scene.device, 0, mebibyte); });
    });
    EXPECT_NE(all.text.find(fmt::format(" {} ", HBF_DEVICE_LOST)), std::string::npos) << all.text;
    EXPECT_NE(all.text.find(fmt::format("\n{} hbm0", HBF_DEVICE_LOST)), std::string::npos) << all.text;
}

TEST(EmulatedFailure, WhatNeverEndsRunsIntoTheDeadlineAndKeepsItsRegions) {
    const Seen all = seen("mi300x", "never-completes:after=4", [] {
        auto *const scene = new Scene; // its end would wait for the device
        std::string out;
        uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value = scene->copy_out();
        out += scene->queue->wait(value, 50'000'000) ? "over" : "pending";
        out += scene->queue->poll().completed < value ? " pending " : " over ";
        return out + status_of([&] { scene->device->free(scene->on_device); });
    });
    EXPECT_EQ(all.text.rfind(fmt::format("pending pending {} ", HBF_BUSY), 0), 0u) << all.text;
}

TEST(EmulatedFailure, ADeviceThatHangsDoesNotHoldUpTheEndOfItsInstance) {
    const Seen all = seen("mi300x", "never-completes:after=20", [] {
        AmdOptions options = small();
        options.peers = false;
        Logged logged;
        return stream::end_while_hung(open_first(options, logged.log()), logged);
    });
    EXPECT_TRUE(all.has(stream::hung_end)) << all.text;
}

TEST(EmulatedFailure, ADeviceThatHangsDoesNotHoldUpWhoWantsNewMemory) {
    const Seen all = seen("mi300x", "never-completes", [] {
        const Survey known = survey("");
        const DeviceFacts facts = open_device(known.devices.front(), known);
        auto *const block = new DeviceBlock(facts.ordinal, mebibyte, CoherenceClass::coarse); // which it may write to yet
        Aside aside(facts.ordinal);
        aside.patience = std::chrono::milliseconds(50);
        std::string out = status_of([&] { aside.clear(block->at(), mebibyte); });
        return out + (aside.stuck() ? ", stuck" : "");
    });
    EXPECT_TRUE(all.text.starts_with(fmt::format("{} clearing new memory got no further in 50 ms", HBF_DEVICE_LOST)))
        << all.text;
    EXPECT_TRUE(all.text.ends_with(", stuck")) << all.text;
}

TEST(EmulatedFailure, NothingOfAnEmulatedDeviceIsSaidToBeReal) {
    const Seen all = seen("mi300x", "", [] {
        const Scene scene;
        hbf_tier_info tier{};
        scene.device->describe_tier(0, tier);
        return fmt::format("{} {}", survey("").devices.front().info.reality, tier.reality);
    });
    EXPECT_EQ(all.text, fmt::format("{0} {0}", HBF_REALITY_EMULATED));
}

} // namespace
} // namespace hbf::amd
