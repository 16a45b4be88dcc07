// SPDX-License-Identifier: Apache-2.0
// Sizes and offsets beyond 32 bits. Apart from the others because the thread sanitizer takes minutes over the bytes.
#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class Large : public FabricTest {
protected:
    Device device = open();
    RegionInfo a = must(device.allocate(dram, 4 * granule)), b = must(device.allocate(dram, 4 * granule)),
               c = must(device.allocate(dram, 4 * granule));
    Queue queue = must(device.create_queue());
};

TEST_F(Large, CommandsThatCrossFourGibibytesArriveWhole) {
    constexpr uint64_t four = 1ull << 32;
    const RegionInfo far = must(device.allocate(vram, 6ull << 30));
    write(a, 0, a.size, 5);
    Batch batch;
    batch.copy(far.region, four - granule, a.region, 0, 2 * granule, Integrity::readback); // lies across
    batch.fill(far.region, four + 8 * granule, 16, 7, 8);
    batch.barrier();
    batch.copy(b.region, 0, far.region, four - granule, 2 * granule, Integrity::next_read);
    batch.copy(c.region, 0, far.region, four + 8 * granule, 16);
    const Completion completion = must(queue.wait(must(queue.submit(batch)).value));
    EXPECT_TRUE(same(a, b, 2 * granule));
    EXPECT_EQ(c.address[8], std::byte{7});
    EXPECT_EQ(completion.checked_bytes, 4 * granule) << "read back, and compared when read again";

    const RegionInfo huge = must(device.allocate(alias, 5ull << 30)), huger = must(device.allocate(alias, 5ull << 30));
    must(queue.wait(must(queue.submit(copy(huge, huger, four + 4096))).value));
    EXPECT_EQ(script.largest_copy, four + 4096);
}

} // namespace
} // namespace hbf::testing
