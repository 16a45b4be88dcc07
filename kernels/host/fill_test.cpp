// SPDX-License-Identifier: Apache-2.0
#include "copy.hpp"
#include "variants_test.hpp"

namespace hbf::kernels {
namespace {

class Fill : public testing::EachVariant {};
HBF_FOR_EACH_VARIANT(Fill);

constexpr uint64_t pattern = 0x8877665544332211u;

TEST_P(Fill, EveryWidthLengthAndAlignmentAndNothingAround) {
    std::vector<uint8_t> room(1200), expected;
    uint8_t bytes[8];
    memcpy(bytes, &pattern, 8);
    for (const Stores stores : {Stores::regular, Stores::streaming})
        for (const unsigned width : {1u, 2u, 4u, 8u})
            for (size_t offset = 0; offset < 72; ++offset)
                for (size_t size = 0; size < 1000; size += (size < 140 ? 1 : 53)) {
                    std::fill(room.begin(), room.end(), uint8_t{0xEE});
                    expected = room;
                    for (size_t i = 0; i < size; ++i) expected[offset + i] = bytes[i % width];
                    fill(room.data() + offset, size, pattern, width, stores);
                    ASSERT_TRUE(room == expected) << "width " << width << " offset " << offset << " size " << size;
                }
}

TEST_P(Fill, UpToTheEdgeOfMappedMemory) {
    const testing::Guarded room(4096);
    for (size_t size = 0; size <= 4096; size += 13) {
        fill(room.end() - size, size, pattern, 8, Stores::streaming);
        for (size_t i = 0; i < size; ++i)
            ASSERT_EQ(*(room.end() - size + i), static_cast<uint8_t>(pattern >> (8 * (i % 8)))) << size << " " << i;
    }
}

} // namespace
} // namespace hbf::kernels
