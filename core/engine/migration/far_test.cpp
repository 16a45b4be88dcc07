// SPDX-License-Identifier: Apache-2.0
// Slabs that are larger than 4 GiB, as those of very large budgets are: offsets in a region of over 32 bits.
#include "core/engine/migration/copier.hpp"
#include "core/fabric/testing/fixture.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::kv {
namespace {

using namespace hbf::testing;

class FarTest : public FabricTest {
protected:
    static constexpr uint32_t far = (uint64_t{4} << 30) / granule_size + 5; // granules
    // One run takes the first 4 GiB and more of the only slab. The memory is asked for and never touched.
    std::unique_ptr<TierPool> pool(FakeTier tier) {
        return std::make_unique<TierPool>(Tier::hbf, device, device.tiers()[tier], tier == dram, 2 * far * granule_size,
                                          far);
    }
    Device device = open();
};

TEST_F(FarTest, BytesGoThereAndBack) {
    const auto here = pool(dram), there = pool(vram);
    must(here->allocate(far));
    must(there->allocate(far));
    const uint64_t from = must(here->allocate(2)), to = must(there->allocate(2)), back = must(here->allocate(2));
    constexpr uint64_t bytes = 2 * granule_size;
    EXPECT_GT(here->at(from).offset, uint64_t{1} << 32) << "it does not lie where this test is about";
    EXPECT_GT(there->at(to).offset, uint64_t{1} << 32);
    const Spot source = here->at(from), again = here->at(back);
    for (uint64_t i = 0; i < bytes; ++i) source.address[i] = static_cast<std::byte>(i * 13 + i / 257);
    for (int i = 0; i < 2; ++i) source.crc[i] = kernels::crc32c(source.address + i * granule_size, granule_size);
    Copier copier(*here, bytes);
    const auto soon = Copier::Clock::now() + 20s;
    must(copier.copy(*there, there->at(to), *here, source, bytes, soon));
    must(copier.copy(*here, again, *there, there->at(to), bytes, soon));
    EXPECT_EQ(std::memcmp(again.address, source.address, bytes), 0);
    EXPECT_EQ(std::memcmp(must(copier.fetch(*there, there->at(to), bytes, soon)), source.address, bytes), 0);
    const std::byte *const low = here->at(from % 65536).address; // where 32 bits of offset would lead
    EXPECT_EQ(low[1], std::byte{}) << "written there too";
}

} // namespace
} // namespace hbf::kv
