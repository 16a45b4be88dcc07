// SPDX-License-Identifier: Apache-2.0
// Tiers and regions: what they are made of, that nothing is lost where the driver runs out, and memory that is registered by
// several.
#include <cstdlib>
#include <cstring>

#include "core/fabric/testing/allocations.hpp"
#include "plugins/nvidia/memory/coherence.hpp"
#include "plugins/nvidia/memory/tiers.hpp"
#include "plugins/nvidia/tests/fake.hpp"

namespace hbf::nvidia {
namespace {

constexpr uint64_t mebibyte = 1 << 20;

class NvidiaMemory : public OnFake {
protected:
    void make(const Options &options = {}, const std::vector<Peer> &peers = {}) {
        tiers.reset();
        context = open();
        tiers = std::make_unique<Tiers>(*context, options, peers, HostMemory{0, uint64_t{256} << 20, trouble}, nullptr);
    }
    hbf_tier_info tier(uint32_t index) {
        hbf_tier_info info{};
        tiers->describe(index, info);
        return info;
    }
    static sdk::AllocRequest request(uint32_t tier, uint64_t size, uint64_t alignment = 0) {
        sdk::AllocRequest out;
        out.tier = tier, out.size = size, out.alignment = alignment;
        return out;
    }

    std::string trouble; // with the host's memory
    std::unique_ptr<Context> context;
    std::unique_ptr<Tiers> tiers;
};

TEST_F(NvidiaMemory, TiersSayWhatTheyAre) {
    make();
    ASSERT_EQ(tiers->count(), 2u);
    EXPECT_STREQ(tier(0).name, "hbm0");
    EXPECT_EQ(tier(0).media, HBF_MEDIA_HBM);
    EXPECT_EQ(tier(0).access, HBF_ACCESS_DEVICE | HBF_ACCESS_DMA);
    EXPECT_EQ(tier(0).granule, 2 * mebibyte);
    EXPECT_EQ(tier(0).extended_by, 1u);
    EXPECT_EQ(tier(0).flags, 0u);
    EXPECT_EQ(tier(0).capacity, 60 * mebibyte) << "a sixteenth is left";
    EXPECT_STREQ(tier(1).name, "pinned0");
    EXPECT_EQ(tier(1).media, HBF_MEDIA_PINNED);
    EXPECT_EQ(tier(1).coherence_domain, 0u);
    EXPECT_EQ(tier(1).capacity, 32 * mebibyte);
    EXPECT_EQ(tier(1).reality, HBF_REALITY_REAL);
}

TEST_F(NvidiaMemory, ACoherentLinkIsToldByItsThreeAttributes) {
    FakeDevice &device = fake().devices[0];
    for (const int which : {cuda::pageable_access, cuda::host_page_tables}) device.attributes[which] = 1;
    make();
    EXPECT_STREQ(tier(1).name, "pinned0") << "pageable access alone may be by page faults";
    device.attributes[cuda::host_native_atomics] = 1;
    make();
    EXPECT_STREQ(tier(1).name, "c2c0");
    EXPECT_EQ(tier(1).media, HBF_MEDIA_DRAM);
}

TEST_F(NvidiaMemory, AnEmulatedDeviceIsNeverReal) {
    fake().devices[0].name = "Fake GPU (emulated)";
    make();
    EXPECT_EQ(tier(0).reality, HBF_REALITY_EMULATED);
    EXPECT_EQ(tier(1).reality, HBF_REALITY_EMULATED);
}

TEST_F(NvidiaMemory, WithoutVirtualMemoryItIsPlainAndSaysSo) {
    fake().devices[0].attributes[cuda::virtual_memory] = 0;
    make();
    EXPECT_EQ(tier(0).flags & HBF_TIER_FLAG_DEGRADED, HBF_TIER_FLAG_DEGRADED);
    EXPECT_NE(std::string(tier(0).detail).find("cuMemAlloc"), std::string::npos);
    const auto region = tiers->make(request(0, 100, 2 * mebibyte));
    EXPECT_EQ(region->at % (2 * mebibyte), 0u);
    EXPECT_EQ(fake().calls["cuMemCreate"], 0);
}

TEST_F(NvidiaMemory, RegionsAreZeroAlignedAndCounted) {
    make();
    for (uint32_t index = 0; index < 2; ++index)
        for (const uint64_t alignment : {uint64_t{0}, uint64_t{4096}, 2 * mebibyte}) {
            const uint64_t before = tier(index).available;
            const auto region = tiers->make(request(index, 5000, alignment));
            EXPECT_EQ(region->size, 5000u);
            EXPECT_EQ(region->at % std::max<uint64_t>(alignment, 1), 0u);
            std::vector<char> zeros(5000);
            EXPECT_EQ(std::memcmp(reinterpret_cast<void *>(region->at), zeros.data(), zeros.size()), 0);
            EXPECT_LT(tier(index).available, before);
        }
    EXPECT_EQ(refusal([&] { tiers->make(request(0, 1, 4 * mebibyte)); }).status, HBF_UNSUPPORTED);
    EXPECT_EQ(refusal([&] { tiers->make(request(0, 61 * mebibyte)); }).status, HBF_EXHAUSTED);
}

TEST_F(NvidiaMemory, WhereverTheDriverRunsOutNothingIsLost) {
    for (const int plain : {0, 1}) {
        fake().devices[0].attributes[cuda::virtual_memory] = plain == 0;
        make();
        for (uint32_t index = 0; index < 2; ++index) {
            const uint64_t before = tier(index).available;
            int nth = 1;
            for (;; ++nth) {
                fake().fail_nth = nth;
                const sdk::Failure failure = refusal([&] { tiers->make(request(index, mebibyte)); });
                if (failure.status == HBF_OK) break;
                EXPECT_EQ(failure.status, HBF_EXHAUSTED) << failure.message;
                EXPECT_NE(failure.message.find("CUDA_ERROR_FAKE (2)"), std::string::npos) << failure.message;
                EXPECT_EQ(tier(index).available, before) << "call " << nth;
                ASSERT_LT(nth, 20);
            }
            EXPECT_GT(nth, 2);
            fake().fail_nth = 0;
        }
    }
}

// The host's memory: a string that cannot be made, after the driver has given something, loses it.
TEST_F(NvidiaMemory, WhereverTheHostRunsOutNothingIsLost) {
    make();
    std::vector<char> memory(64);
    const auto each = [&](const char *what, const auto &call) {
        int nth = 1;
        for (;; ++nth) {
            testing::fail_allocation(static_cast<uint64_t>(nth));
            try {
                call();
            } catch (const std::bad_alloc &) {
            } catch (const sdk::Failure &) { // the fake's own books
            }
            const bool struck = testing::allocation_failed();
            testing::fail_allocation(0);
            if (!struck) break;
            ASSERT_LT(nth, 200) << what;
        }
        EXPECT_GT(nth, 2) << what;
    };
    each("a context", [&] { (void)open(); });
    each("a region of the device", [&] { (void)tiers->make(request(0, mebibyte)); });
    each("a region of pinned memory", [&] { (void)tiers->make(request(1, mebibyte)); });
    each("registered memory", [&] { (void)tiers->make_registered(memory.data(), memory.size()); });
    EXPECT_TRUE(fake().registered.empty());
    EXPECT_TRUE(fake().blocks.empty());
    EXPECT_EQ(fake().live_streams, 1) << "the context's own";
    EXPECT_EQ(fake().retained[0], 1);
}

TEST_F(NvidiaMemory, OfTheHostIsTriedBeforeItIsBelieved) {
    context = open();
    EXPECT_EQ(try_host_memory(*context), "");
    fake().stale_host = true;
    const sdk::Failure wrong = refusal([&] { (void)try_host_memory(*context); });
    EXPECT_EQ(wrong.status, HBF_UNAVAILABLE);
    EXPECT_NE(wrong.message.find("came back as 0xee"), std::string::npos) << wrong.message;
    fake().stale_host = false;
    trouble = "nobody pins it";
    make({}, {});
    EXPECT_EQ(tiers->count(), 1u);
    EXPECT_FALSE(tiers->has_domain());
    std::vector<char> memory(64);
    const sdk::Failure failure = refusal([&] { tiers->make_registered(memory.data(), 64); });
    EXPECT_EQ(failure.status, HBF_UNSUPPORTED);
    EXPECT_NE(failure.message.find(trouble), std::string::npos) << failure.message;
    int nth = 1;
    for (;; ++nth) { // wherever the driver runs out, it was not tried, or says so, and nothing is lost
        fake().fail_nth = nth;
        std::string why;
        const sdk::Failure refused = refusal([&] { why = try_host_memory(*context); });
        if (std::exchange(fake().fail_nth, 0) != 0) break;
        EXPECT_TRUE(!why.empty() || refused.status != HBF_OK) << nth;
    }
    EXPECT_GT(nth, 3);
}

TEST_F(NvidiaMemory, WhatNeverEndsIsGivenUpAndNotGivenBack) {
    make();
    context->patience_ns = 1'000'000;
    fake().broken["cuStreamQuery"] = cuda::not_ready;
    const sdk::Failure failure = refusal([&] { tiers->make(request(0, mebibyte)); });
    EXPECT_EQ(failure.status, HBF_DEVICE_LOST);
    EXPECT_NE(failure.message.find("does no work"), std::string::npos) << failure.message;
    EXPECT_TRUE(context->stuck());
    EXPECT_EQ(fake().handles.size(), 1u) << "the device may write there yet";
    tiers.reset();
    context.reset();
    EXPECT_EQ(fake().retained[0], 1) << "nor is the context, whose end would wait";
    for (const auto &[at, block] : fake().blocks) std::free(reinterpret_cast<void *>(at));
    new_fake();
}

TEST_F(NvidiaMemory, ADeviceThatAnotherProcessHasForItselfIsBusy) {
    fake().devices[0].attributes[cuda::compute_mode] = 3;
    fake().refuse["cuDevicePrimaryCtxRetain"] = cuda::device_unavailable;
    const sdk::Failure failure = refusal([&] { (void)open(); });
    EXPECT_EQ(failure.status, HBF_BUSY);
    EXPECT_NE(failure.message.find("Exclusive_Process"), std::string::npos) << failure.message;
}

TEST_F(NvidiaMemory, OthersMayHaveTakenTheDevicesMemory) {
    make();
    fake().devices[0].used = 50 * mebibyte;
    EXPECT_EQ(tier(0).available, 14 * mebibyte);
    const sdk::Failure failure = refusal([&] { tiers->make(request(0, 20 * mebibyte)); });
    EXPECT_EQ(failure.status, HBF_EXHAUSTED);
    EXPECT_NE(failure.message.find("cuMemCreate"), std::string::npos) << failure.message;
    fake().devices[0].used = 0;
}

TEST_F(NvidiaMemory, MemoryRegisteredTwiceStaysUntilTheLastIsGone) {
    make();
    fake().devices.push_back(FakeDevice{});
    const auto other = open(1);
    std::vector<char> memory(8192);
    auto all = std::make_unique<HostRange>(*context, memory.data(), memory.size());
    auto part = std::make_unique<HostRange>(*other, memory.data() + 100, 200);
    EXPECT_EQ(fake().registered.size(), 1u) << "the driver hears of it once";
    EXPECT_EQ(part->on_device(), reinterpret_cast<uint64_t>(memory.data()) + 100);
    all.reset();
    EXPECT_EQ(fake().registered.size(), 1u) << "it is in use";
    part.reset();
    EXPECT_TRUE(fake().registered.empty());
}

TEST_F(NvidiaMemory, MemoryThatTheProgramHasRegisteredIsUsedAndLeftAlone) {
    make();
    std::vector<char> memory(8192);
    const auto begin = reinterpret_cast<uint64_t>(memory.data());
    fake().registered[begin] = begin + 4096;
    {
        const HostRange inside(*context, memory.data() + 8, 64);
        EXPECT_TRUE(inside.foreign());
    }
    EXPECT_EQ(fake().registered.size(), 1u);
    const sdk::Failure across = refusal([&] { HostRange(*context, memory.data() + 8, 8000); });
    EXPECT_EQ(across.status, HBF_BUSY);
    EXPECT_NE(across.message.find("registered already"), std::string::npos) << across.message;
    fake().registered.clear();
}

TEST_F(NvidiaMemory, ARefusedRegistrationLeavesNothing) {
    make();
    std::vector<char> memory(64);
    fake().refuse["cuMemHostRegister"] = cuda::not_permitted;
    EXPECT_EQ(refusal([&] { tiers->make_registered(memory.data(), 64); }).status, HBF_PERMISSION);
    fake().refuse["cuMemHostGetDevicePointer"] = cuda::invalid_value;
    EXPECT_EQ(refusal([&] { tiers->make_registered(memory.data(), 64); }).status, HBF_INTERNAL);
    EXPECT_TRUE(fake().registered.empty());
    fake().devices[0].attributes[cuda::host_register] = 0;
    make();
    EXPECT_EQ(tiers->count(), 1u);
    EXPECT_EQ(refusal([&] { tiers->make_registered(memory.data(), 64); }).status, HBF_UNSUPPORTED);
}

} // namespace
} // namespace hbf::nvidia
