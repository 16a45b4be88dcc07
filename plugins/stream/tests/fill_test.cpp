// SPDX-License-Identifier: Apache-2.0
// Every width, at every offset, of every short length: the bytes that a pattern which repeats from its first byte leaves.
#include "plugins/stream/tests/testing.hpp"

namespace hbf::stream {
namespace {

using StreamFills = OnStreams;

TEST_F(StreamFills, LeaveThePatternAndTouchNothingBesideIt) {
    alignas(16) unsigned char memory[64];
    const hbf_region region = host(memory, sizeof memory);
    const auto one = queue();
    for (const uint64_t pattern : {0x1122334455667788u, 0x0102030401020304u, 0xabababababababab, 0x00ff00ff00ff00ffu})
        for (const uint32_t width : {1u, 2u, 4u, 8u})
            for (uint64_t offset = 0; offset < 9; ++offset)
                for (uint64_t size = 1; size < 27; ++size) {
                    std::memset(memory, 0x5a, sizeof memory);
                    const uint64_t value = submit(*one, {fill(region, offset, size, pattern, width)});
                    run_all();
                    ASSERT_TRUE(one->wait(value, 0));
                    for (uint64_t i = 0; i < sizeof memory; ++i) {
                        const bool inside = i >= offset && i < offset + size;
                        const auto wanted =
                            inside ? static_cast<unsigned char>(pattern >> (8 * ((i - offset) % width))) : 0x5a;
                        ASSERT_EQ(memory[i], wanted)
                            << "width " << width << " offset " << offset << " size " << size << " byte " << i;
                    }
                }
}

TEST_F(StreamFills, AnAlignedFillIsOneCall) {
    alignas(16) unsigned char memory[64];
    const hbf_region region = host(memory, sizeof memory);
    const auto one = queue();
    for (const uint32_t width : {1u, 2u, 4u, 8u}) {
        runtime.calls["fill"] = 0;
        submit(*one, {fill(region, 16, 32, 0x1122334455667788u, width)});
        EXPECT_EQ(runtime.calls["fill"], 1) << width;
    }
    run_all();
}

} // namespace
} // namespace hbf::stream
