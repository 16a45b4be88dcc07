// SPDX-License-Identifier: Apache-2.0
// Peers that keep their word, and those that do not.
#include "plugins/nvidia/peers/peers.hpp"
#include "plugins/nvidia/tests/fake.hpp"

namespace hbf::nvidia {
namespace {

// The twin of copy/1 is what the fake runs.
struct TwinLoader final : stream::KernelLoader {
    std::string device() const override { return "the fake"; }
    std::string missing(const kernels::device::Kernel &) const override { return ""; }
    stream::LoadedKernel load(const kernels::device::Kernel &kernel) override {
        if (refuse) sdk::fail(HBF_UNAVAILABLE, "the compiler says: no");
        return {const_cast<kernels::device::Kernel *>(&kernel), 64, "twin", 1};
    }
    bool refuse = false;
};

class NvidiaPeers : public OnFake {
protected:
    NvidiaPeers() {
        fake().devices.push_back(FakeDevice{});
        fake().devices[1].pci = "0000:5E:00.0";
    }
    Verdict verdict(stream::KernelLoader *by) {
        const auto own = open(0), peer = open(1);
        return try_peer(*own, *peer, by);
    }
    TwinLoader loader;
};

TEST_F(NvidiaPeers, ThatWorkAreBelieved) {
    const Verdict found = verdict(&loader);
    EXPECT_TRUE(found.copies) << found.why;
    EXPECT_TRUE(found.kernels) << found.why;
}

TEST_F(NvidiaPeers, ThatLoseWritesAreFoundByTheCanary) {
    fake().drop_peer_copies = true;
    const Verdict found = verdict(&loader);
    EXPECT_FALSE(found.copies);
    EXPECT_NE(found.why.find("the write is lost"), std::string::npos) << found.why;
}

TEST_F(NvidiaPeers, ThatLoseStoresOfKernelsServeCommandsOnly) {
    fake().drop_peer_stores = true;
    const Verdict found = verdict(&loader);
    EXPECT_TRUE(found.copies);
    EXPECT_FALSE(found.kernels);
    EXPECT_NE(found.why.find("a kernel's stores"), std::string::npos) << found.why;
}

TEST_F(NvidiaPeers, WithoutAKernelOnlyCopiesAreKnown) {
    EXPECT_FALSE(verdict(nullptr).kernels);
    loader.refuse = true;
    const Verdict found = verdict(&loader);
    EXPECT_TRUE(found.copies);
    EXPECT_FALSE(found.kernels);
    EXPECT_NE(found.why.find("the compiler says: no"), std::string::npos) << found.why;
}

TEST_F(NvidiaPeers, WhereverTheDriverRunsOutThereIsNoPeerAndNothingIsLost) {
    int nth = 1;
    for (;; ++nth) {
        const auto own = open(0), peer = open(1);
        fake().fail_nth = nth;
        const Verdict found = try_peer(*own, *peer, nullptr);
        const bool struck = fake().fail_nth == 0;
        fake().fail_nth = 0;
        if (!struck) break;
        EXPECT_FALSE(found.copies) << nth;
        EXPECT_FALSE(found.why.empty()) << nth;
        ASSERT_LT(nth, 50);
    }
    EXPECT_GT(nth, 8);
}

TEST_F(NvidiaPeers, ADriverThatOffersNoneIsTakenAtItsWord) {
    fake().can_access_peers = false;
    const auto own = open(0);
    EXPECT_TRUE(find_peers(*own, &loader, log()).empty());
    EXPECT_NE(logged.find("cuDeviceCanAccessPeer"), std::string::npos) << logged;
    EXPECT_EQ(fake().calls["cuMemCreate"], 0);
}

// One after the other: what was found of a pair stays.
TEST_F(NvidiaPeers, AreFoundOnceAndSaid) {
    {
        const auto own = open(0);
        fake().devices[1].pci = "0000:60:00.0";
        const std::vector<Peer> peers = find_peers(*own, &loader, log());
        ASSERT_EQ(peers.size(), 1u) << logged;
        EXPECT_TRUE(peers[0].kernels);
        EXPECT_NE(peers[0].detail.find("0000:60:00.0"), std::string::npos) << peers[0].detail;
        const int before = fake().calls["cuMemCreate"];
        EXPECT_EQ(find_peers(*own, &loader, log()).size(), 1u);
        EXPECT_EQ(fake().calls["cuMemCreate"], before);
        fake().drop_peer_copies = true;
        fake().devices[1].pci = "0000:61:00.0";
        EXPECT_TRUE(find_peers(*own, &loader, log()).empty());
    }
    EXPECT_NE(logged.find("it does not hold"), std::string::npos) << logged;
}

} // namespace
} // namespace hbf::nvidia
