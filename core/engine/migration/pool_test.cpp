// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "core/engine/migration/pool.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::kv {
namespace {

using namespace hbf::testing;

class PoolTest : public FabricTest {
protected:
    TierPool make(uint64_t granules, uint32_t longest = 4, uint32_t tier = dram) {
        return {Tier::hbm, device, device.tiers()[tier], true, granules * granule_size, longest};
    }
    Device device = open();
};

TEST_F(PoolTest, GivesNeighboursAndKeepsToItsBudget) {
    TierPool pool = make(16);
    const uint64_t a = must(pool.allocate(4)), b = must(pool.allocate(3));
    EXPECT_EQ(b, a + 4);
    EXPECT_EQ(pool.at(b).offset, 4 * granule_size);
    EXPECT_EQ(pool.at(b).address, pool.at(a).address + 4 * granule_size);
    EXPECT_EQ(pool.at(b).crc, pool.at(a).crc + 4);
    must(pool.allocate(9));
    EXPECT_EQ(pool.used(), 16u);
    EXPECT_EQ(code_of(pool.allocate(1)), Code::exhausted);
    pool.free(a, 4);
    EXPECT_EQ(code_of(pool.allocate(5)), Code::exhausted);
    EXPECT_EQ(must(pool.allocate(4)), a);
}

TEST_F(PoolTest, RetiredGranulesWaitForTheirReaders) {
    TierPool pool = make(4);
    Epochs epochs;
    Epochs::Reader &reader = epochs.take();
    const uint64_t run = must(pool.allocate(4));
    reader.enter();
    pool.retire(run, 4, epochs.retire());
    pool.collect(epochs);
    EXPECT_EQ(pool.waiting(), 4u);
    EXPECT_EQ(code_of(pool.allocate(1)), Code::exhausted);
    reader.leave();
    pool.collect(epochs);
    EXPECT_EQ(pool.waiting(), 0u);
    must(pool.allocate(4));
}

TEST_F(PoolTest, FragmentationIsWhatTheLargestCannotUse) {
    TierPool pool = make(16);
    for (int i = 0; i < 16; ++i) must(pool.allocate(1));
    EXPECT_EQ(pool.fragmentation(4), 0) << "nothing is free";
    for (uint64_t i = 0; i < 16; i += 2) pool.free(i, 1);
    EXPECT_EQ(pool.fragmentation(4), 1);
    EXPECT_EQ(pool.fragmentation(1), 0);
    for (uint64_t i = 1; i < 8; i += 2) pool.free(i, 1); // 0 to 8 are free, and 10, 12, 14
    EXPECT_NEAR(pool.fragmentation(4), 1 - 8.0 / 12, 1e-9);
}

TEST_F(PoolTest, GrowsInSlabsAndGivesThemBack) {
    TierPool pool = make(3000); // slabs of 1,024 granules
    std::vector<uint64_t> runs;
    for (int i = 0; i < 700; ++i) runs.push_back(must(pool.allocate(4)));
    EXPECT_EQ(pool.slabs().size(), 3u);
    EXPECT_EQ(script.live_regions, 3u);
    for (size_t i = 0; i < runs.size(); ++i)
        for (size_t k = i + 1; k < runs.size(); k += 97)
            ASSERT_GE(std::max(runs[i], runs[k]) - std::min(runs[i], runs[k]), 4u);
    for (const uint64_t run : runs) pool.free(run, 4);
    pool.set_budget(1024 * granule_size);
    pool.trim();
    EXPECT_EQ(script.live_regions, 1u);
    pool.set_budget(5000 * granule_size);
    for (int i = 0; i < 1250; ++i) must(pool.allocate(4));
    EXPECT_EQ(code_of(pool.allocate(1)), Code::exhausted);
}

TEST_F(PoolTest, ADeviceThatIsFullIsSaid) {
    script.vram_bytes = 70 << 20;
    TierPool pool = make(4096, 4, vram);
    must(pool.allocate(4));
    for (int i = 0; i < 255; ++i) must(pool.allocate(4));
    const auto full = pool.allocate(4);
    ASSERT_EQ(code_of(full), Code::exhausted);
    EXPECT_TRUE(contains(full.error().message, "vram")) << full.error().message;
}

TEST_F(PoolTest, RandomRunsNeverOverlap) {
    TierPool pool = make(256, 16);
    std::mt19937 random(3);
    std::vector<int> owner(256, -1);
    std::vector<std::pair<uint64_t, uint32_t>> runs;
    for (int i = 0; i < 5000; ++i) {
        if (runs.empty() || random() % 2 == 0) {
            const uint32_t count = 1 + random() % 16;
            const auto run = pool.allocate(count);
            if (!run) continue;
            for (uint64_t g = *run; g < *run + count; ++g) {
                ASSERT_EQ(owner[g], -1);
                owner[g] = i;
            }
            runs.push_back({*run, count});
        } else {
            std::swap(runs[random() % runs.size()], runs.back());
            for (uint64_t g = runs.back().first; g < runs.back().first + runs.back().second; ++g) owner[g] = -1;
            pool.free(runs.back().first, runs.back().second);
            runs.pop_back();
        }
    }
    EXPECT_EQ(pool.used(), static_cast<uint64_t>(std::count_if(owner.begin(), owner.end(), [](int o) { return o >= 0; })));
}

} // namespace
} // namespace hbf::kv
