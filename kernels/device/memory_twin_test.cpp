// SPDX-License-Identifier: Apache-2.0
// The twins that move, add, check and follow, against what each is said to do and against the host's own kernels.
#include <vector>

#include "kernels/device/chase.h"
#include "kernels/device/copy.h"
#include "kernels/device/crc32c.h"
#include "kernels/device/kv_gather.h"
#include "kernels/device/launch_test.hpp"
#include "kernels/device/triad.h"
#include "kernels/host/crc32c.hpp"

namespace hbf::kernels::device {
namespace {

using testing::launch, testing::numbers, testing::of, testing::Shape, testing::shapes;

TEST(Twin, CopyCopiesEveryByteAndNoOther) {
    for (const Shape shape : shapes)
        for (const uint64_t size : {uint64_t{1}, uint64_t{7}, uint64_t{8}, uint64_t{4095}, uint64_t{8000}}) {
            auto src = numbers(1001);
            std::vector<uint64_t> dst(1001, 3), expected(1001, 3);
            std::memcpy(expected.data(), src.data(), size);
            const copy_arguments arguments{size};
            launch("copy/1", {of(src), of(dst)}, &arguments, shape);
            ASSERT_EQ(dst, expected) << size;
        }
}

TEST(Twin, TriadAddsAndMultiplies) {
    for (const Shape shape : shapes) {
        auto b = numbers(501), c = numbers(502);
        std::vector<uint64_t> a(501, 9);
        const triad_arguments arguments{8 * 500, 0x80000003u, 0};
        launch("triad/1", {of(a), of(b), of(c)}, &arguments, shape);
        for (size_t i = 0; i < 500; ++i) {
            const auto half = [&](unsigned at) {
                return static_cast<uint32_t>(b[i] >> at) + arguments.scalar * static_cast<uint32_t>(c[i] >> at);
            };
            ASSERT_EQ(a[i], half(0) | uint64_t{half(32)} << 32) << i;
        }
        ASSERT_EQ(a[500], 9u);
    }
}

TEST(Twin, ChaseFollowsEachChainAndStopsWhereItIsBroken) {
    for (const Shape shape : shapes) {
        std::vector<uint64_t> links(300);
        for (size_t i = 0; i < 300; ++i) links[i] = (i / 100 * 100 + (i % 100 + 37) % 100) * 8; // three rings of 100
        std::vector<chase_result> results(4);
        const chase_arguments arguments{2400, 0, 800, 250, 4}; // the fourth begins outside
        launch("chase/1", {of(links), of(results)}, &arguments, shape);
        for (uint64_t chain = 0; chain < 3; ++chain) {
            ASSERT_EQ(results[chain].steps, 250u);
            ASSERT_EQ(results[chain].end, 8 * (100 * chain + 250 * 37 % 100));
        }
        ASSERT_EQ(results[3].steps, 0u);
        for (const uint64_t nowhere : {uint64_t{2400}, uint64_t{2393}, uint64_t{12}, ~uint64_t{7}}) {
            links[111] = nowhere; // three steps from the second chain's start: 100, 137, 174, 111
            launch("chase/1", {of(links), of(results)}, &arguments, shape);
            ASSERT_EQ(results[0].steps, 250u);
            ASSERT_EQ(results[1].steps, 4u);
            ASSERT_EQ(results[1].end, nowhere);
        }
    }
}

TEST(Twin, CrcIsTheHosts) {
    auto bytes = numbers((3 * 65536 + 64) / 8);
    for (const Shape shape : shapes)
        for (const uint64_t size : {1u, 7u, 8u, 9u, 64u, 4000u, 65535u, 65536u, 65537u, 65544u, 196613u}) {
            const size_t pieces = (size + 65535) / 65536;
            std::vector<uint32_t> crc(pieces + 1, 0x77777777u), expected(pieces + 1, 0x77777777u);
            const auto *at = reinterpret_cast<const uint8_t *>(bytes.data());
            for (size_t i = 0; i < pieces; ++i)
                expected[i] = kernels::crc32c(at + 65536 * i, std::min<size_t>(65536, size - 65536 * i));
            const crc32c_arguments arguments{size};
            launch("crc32c/1", {of(bytes), of(crc)}, &arguments, shape);
            ASSERT_EQ(crc, expected) << size << " bytes, " << shape.groups << " groups of " << shape.size;
        }
}

TEST(Twin, GatherAndScatterMoveListedBlocksOnly) {
    // 6 blocks of two parts of 40 bytes: keys of all blocks, then values.
    const kv_blocks layout{40, 48, 6 * 48, 2, 6, 4};
    for (const Shape shape : shapes) {
        auto pool = numbers(2 * 6 * 6);
        const auto before = pool;
        std::vector<uint32_t> list{5, 0, 6, 3}, outcome(5, 9); // there is no block 6
        std::vector<uint64_t> packed(4 * 2 * 5, 1);
        launch("kv_gather/1", {of(pool), of(list), of(packed), of(outcome)}, &layout, shape);
        ASSERT_EQ(outcome, (std::vector<uint32_t>{HBF_KV_MOVED, HBF_KV_MOVED, HBF_KV_REFUSED, HBF_KV_MOVED, 9}));
        ASSERT_EQ(pool, before);
        for (size_t i = 0; i < 4; ++i)
            for (size_t part = 0; part < 2; ++part)
                for (size_t word = 0; word < 5; ++word)
                    ASSERT_EQ(packed[(2 * i + part) * 5 + word], i == 2 ? 1 : pool[list[i] * 6 + part * 36 + word]);

        std::vector<uint64_t> target(pool.size(), 2);
        std::fill(outcome.begin(), outcome.end(), 9);
        launch("kv_scatter/1", {of(target), of(list), of(packed), of(outcome)}, &layout, shape);
        ASSERT_EQ(outcome, (std::vector<uint32_t>{HBF_KV_MOVED, HBF_KV_MOVED, HBF_KV_REFUSED, HBF_KV_MOVED, 9}));
        for (size_t i = 0; i < target.size(); ++i) {
            const size_t block = i % 36 / 6;
            const bool listed = block == 5 || block == 0 || block == 3;
            ASSERT_EQ(target[i], listed && i % 6 < 5 ? pool[i] : 2) << i;
        }
    }
}

} // namespace
} // namespace hbf::kernels::device
