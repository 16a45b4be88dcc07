// SPDX-License-Identifier: Apache-2.0
// An opened device: its tiers, and what becomes of machines that say one thing and do another.
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "core/host/machine_fixture.hpp"
#include "plugins/amd/tests/emulated/scene.hpp"

namespace hbf::amd {
namespace {

// The tiers, and what was logged.
Seen opened(const std::string &faults, const AmdOptions &options = small()) {
    return seen("mi300x", faults, [&] {
        Logged logged;
        const auto instance = open_first(options, logged.log());
        return tier_names(*instance) + "\n" + logged.text;
    });
}

std::string first_line(const Seen &seen) {
    return seen.text.substr(0, seen.text.find('\n'));
}

TEST(EmulatedInstance, HasDeviceMemoryItsPeersAndPinnedMemory) {
    const Seen all = opened("");
    EXPECT_EQ(first_line(all), "hbm0 peer1 hbf0") << all.text;
    EXPECT_NE(all.text.find("copies and kernels were tried both ways and arrive"), std::string::npos) << all.text;
    EXPECT_NE(all.text.find("xGMI, 1 hop"), std::string::npos) << all.text;
    EXPECT_NE(all.text.find("there is no CXL memory"), std::string::npos) << all.text;
}

TEST(EmulatedInstance, APeerThatDropsWhatIsWrittenIsLeftOutWithTheReason) {
    for (const char *fault : {"peer-drops-writes", "peer-lies", "iommu-redirect"}) {
        const Seen all = opened(fault);
        EXPECT_EQ(first_line(all), "hbm0 hbf0") << fault << "\n" << all.text;
        EXPECT_NE(all.text.find("it went nowhere"), std::string::npos) << fault << "\n" << all.text;
    }
}

TEST(EmulatedInstance, APeerThatDropsStoresOfKernelsIsForCopiesOnly) {
    const Seen all = seen("mi300x", "peer-kernel-drops", [] {
        Logged logged;
        const auto instance = open_first(small(), logged.log());
        hbf_tier_info peer{};
        instance->describe_tier(1, peer);
        return fmt::format("{} {} {}\n{}", peer.name, peer.access, peer.flags & HBF_TIER_FLAG_DEGRADED ? "degraded" : "",
                           peer.detail);
    });
    EXPECT_EQ(first_line(all), fmt::format("peer1 {} degraded", HBF_ACCESS_DMA)) << all.text;
    EXPECT_NE(all.text.find("not for kernels"), std::string::npos) << all.text;
}

// The machine of profiles/mi300x.toml with its pool, as its kernel would show it.
void show_pool(test::FakeMachine &machine) {
    machine.two_sockets_with_cxl();
    for (const char *address : {"0000:05:00.0", "0000:85:00.0"})
        machine.pci({.address = address, .vendor = "0x1002", .device = "0x74a1", .class_code = "0x120000"});
}

TEST(EmulatedInstance, ThePoolOfCxlMemoryComesFirstAndSaysHowItIsPlaced) {
    test::FakeMachine machine;
    show_pool(machine);
    const Seen all = seen("mi300x", "", [&] {
        Logged logged;
        const auto instance = open_first(small(), logged.log(), machine.root());
        hbf_tier_info hbm{}, pool{};
        hbf_domain_info domain{};
        instance->describe_tier(0, hbm);
        instance->describe_tier(1, pool);
        instance->coherence()->describe(pool.coherence_domain, domain);
        sdk::AllocRequest request;
        request.tier = 1;
        request.size = 1 << 20;
        const hbf_region_info region = instance->alloc(request);
        static_cast<char *>(region.address)[0] = 1;
        instance->free(region.region);
        return fmt::format("{}\n{} {} {} {}\n{}\n{}", tier_names(*instance), hbm.extended_by, pool.media,
                           pool.flags & HBF_TIER_FLAG_DEGRADED ? "degraded" : "", domain.name, pool.detail, logged.text);
    });
    EXPECT_EQ(all.text.rfind(fmt::format("hbm0 cxl2 peer1 hbf0\n1 {} degraded cxl\n", HBF_MEDIA_CXL), 0), 0u) << all.text;
    EXPECT_NE(all.text.find("pages are not bound to the node: the machine below"), std::string::npos) << all.text;
    EXPECT_EQ(all.text.find("there is no CXL memory"), std::string::npos) << all.text;
}

TEST(EmulatedInstance, APoolThatCannotBeRegisteredIsLeftOutAndTheDeviceServes) {
    test::FakeMachine machine;
    show_pool(machine);
    // The probe of the peer takes pinned memory first.
    AmdOptions options = small();
    options.peers = false;
    const Seen all = seen("mi300x", "oom-host:after=0,count=1", [&] {
        Logged logged;
        return tier_names(*open_first(options, logged.log(), machine.root())) + "\n" + logged.text;
    });
    EXPECT_EQ(first_line(all), "hbm0 hbf0") << all.text;
    EXPECT_NE(all.text.find("cxl2: hipHostRegister"), std::string::npos) << all.text;
    EXPECT_NE(all.text.find("the tier is left out"), std::string::npos) << all.text;
}

TEST(EmulatedInstance, WithoutPeersThereIsNone) {
    AmdOptions options = small();
    options.peers = false;
    EXPECT_EQ(first_line(opened("", options)), "hbm0 hbf0");
}

TEST(EmulatedInstance, FineMemoryThatIsCoarseByTheRuntimesWordIsRefused) {
    const Seen all = seen(HBF_AMD_PROFILES "/coarse_host.toml", "", [] {
        Logged logged;
        return tier_names(*open_first(small(), logged.log()));
    });
    EXPECT_EQ(all.status, HBF_UNSUPPORTED) << all.text;
    EXPECT_NE(all.text.find("hbf0: fine memory was asked for, and hipMemRangeGetAttribute says coarse"), std::string::npos)
        << all.text;
    EXPECT_NE(all.text.find("host_class = coarse"), std::string::npos) << all.text;
}

TEST(EmulatedInstance, EachClassIsConfirmedByTheRuntime) {
    for (const CoherenceClass kind : {CoherenceClass::coarse, CoherenceClass::fine, CoherenceClass::uncached}) {
        AmdOptions options = small();
        options.hbm_class = kind;
        options.host_class = kind == CoherenceClass::coarse ? CoherenceClass::coarse : CoherenceClass::fine;
        const Seen all = seen("mi300x", "", [&] {
            const auto instance = open_first(options, sdk::Log());
            hbf_domain_info domain{};
            instance->coherence()->describe(0, domain);
            return fmt::format("{} {}", domain.agents & HBF_AGENT_DEVICE ? "kernels" : "no kernels", domain.detail);
        });
        EXPECT_EQ(all.text, kind == CoherenceClass::coarse
                                ? "no kernels coarse-grained memory of the host; hipMemRangeGetAttribute says coarse"
                                : "kernels fine-grained memory of the host; hipMemRangeGetAttribute says fine");
    }
}

TEST(EmulatedInstance, AFullDeviceIsExhaustedAndTheReasonNamesTheTier) {
    const Seen all = seen("mi300x", "", [] {
        const auto instance = open_first(small(), sdk::Log());
        sdk::AllocRequest request;
        request.size = 48 << 20;
        const hbf_region_info first = instance->alloc(request);
        std::string why;
        try {
            (void)instance->alloc(request);
        } catch (const sdk::Failure &failure) {
            why = fmt::format("{} {}", failure.status, failure.message);
        }
        instance->free(first.region);
        instance->free(instance->alloc(request).region);
        return why;
    });
    EXPECT_EQ(all.text.rfind(fmt::format("{} hbm0: ", HBF_EXHAUSTED), 0), 0u) << all.text;
}

TEST(EmulatedInstance, ARuntimeThatHasNoMemoryLeftIsExhaustedWithItsCode) {
    const Seen all = seen("mi300x", "oom:after=40", [] {
        AmdOptions options = small();
        options.peers = false;
        const auto instance = open_first(options, sdk::Log());
        sdk::AllocRequest request;
        request.size = 65536;
        for (int i = 0; i < 100; ++i) {
            try {
                (void)instance->alloc(request);
            } catch (const sdk::Failure &failure) {
                return fmt::format("{} {}", failure.status, failure.message);
            }
        }
        return std::string("no end");
    });
    EXPECT_EQ(all.text.rfind(fmt::format("{} hbm0: hipMalloc", HBF_EXHAUSTED), 0), 0u) << all.text;
    EXPECT_NE(all.text.find("hipErrorOutOfMemory (2)"), std::string::npos) << all.text;
}

TEST(EmulatedInstance, NewMemoryIsClearedWhoeverHadItBefore) {
    const Seen all = seen("mi300x", "reused-dirty", [] {
        const auto instance = open_first(small(), sdk::Log());
        const auto queue = instance->create_queue({});
        std::string out;
        for (const uint32_t tier : {0u, 1u, 2u}) { // the device's, its peer's, the host's
            const hbf_region fresh = alloc(*instance, tier, 65536).region;
            const hbf_region_info seen = alloc(*instance, 2, 65536);
            std::memset(seen.address, 0x55, 65536);
            (void)queue->wait(submit(*queue, {copy_of(seen.region, 0, fresh, 0, 65536)}), 20'000'000'000);
            const auto *const bytes = static_cast<const unsigned char *>(seen.address);
            out += fmt::format("{} ", std::count(bytes, bytes + 65536, 0));
        }
        return out;
    });
    EXPECT_EQ(all.text, "65536 65536 65536 ");
}

TEST(EmulatedInstance, HealthReadsEccLinksAndTemperature) {
    const Seen all = seen("mi300x", "", [] {
        const auto instance = open_first(small(), sdk::Log());
        std::string names;
        if (sdk::Health *const health = instance->health())
            for (const hbf_reading &reading : health->read()) names += fmt::format("{}={} ", reading.name, reading.value);
        return names;
    });
    for (const char *name : {"ecc.umc.ue_count=0 ", "ecc.umc.ce_count=0 ", "pcie.replay_count=0 ", "temperature.edge="})
        EXPECT_NE(all.text.find(name), std::string::npos) << name << " in " << all.text;
}

TEST(EmulatedInstance, ACompilerThatFailsIsQuotedAndAllOfItIsInTheLog) {
    const Seen all = seen("mi300x", "compile-fails", [] {
        Logged logged;
        AmdOptions options = small();
        options.peers = false;
        const auto instance = open_first(options, logged.log());
        hbf_kernel_info info{};
        try {
            instance->kernels()->find("copy/1", info);
        } catch (const sdk::Failure &failure) {
            return fmt::format("{} {}\n{}", failure.status, failure.message, logged.text);
        }
        return std::string("it was built");
    });
    EXPECT_EQ(all.text.rfind(fmt::format("{} kernel copy/1 does not build for gfx942", HBF_UNAVAILABLE), 0), 0u) << all.text;
    EXPECT_NE(all.text.find("the compiler said:"), std::string::npos) << all.text;
}

TEST(EmulatedInstance, AnImageOfAnotherArchitectureIsRefusedWithTheRuntimesWord) {
    const Seen all = seen("mi300x", "image-refused", [] {
        AmdOptions options = small();
        options.peers = false;
        const auto instance = open_first(options, sdk::Log());
        hbf_kernel_info info{};
        try {
            instance->kernels()->find("copy/1", info);
        } catch (const sdk::Failure &failure) {
            return fmt::format("{} {}", failure.status, failure.message);
        }
        return std::string("it was taken");
    });
    EXPECT_NE(all.text.find("kernel copy/1: hipModuleLoadData"), std::string::npos) << all.text;
    EXPECT_NE(all.text.find("hipErrorNoBinaryForGpu"), std::string::npos) << all.text;
}

} // namespace
} // namespace hbf::amd
