// SPDX-License-Identifier: Apache-2.0
// Gather and scatter against the twins of the device kernels, bit for bit, with memory around that must not be touched.
#include "kernels/device/kv_gather.h"
#include "kernels/device/kv_scatter.h"
#include "kv_blocks.hpp"
#include "variants_test.hpp"

namespace hbf::kernels {
namespace {

using testing::Guarded, testing::random_bytes;

class KvMove : public testing::EachVariant {};
HBF_FOR_EACH_VARIANT(KvMove);

struct Case {
    KvBlocks layout;
    size_t pool_size;
};

std::vector<Case> cases() {
    std::vector<Case> out;
    for (const uint64_t piece : {8u, 40u, 64u, 256u, 264u, 1000u, 4096u, 6152u})
        for (const uint32_t parts : {1u, 3u})
            for (const uint64_t gap : {24u, 64u}) { // with the latter whole lines stay whole
                const uint64_t stride = piece + gap;
                // Parts of all blocks together, and all parts of a block together.
                out.push_back({{piece, stride, 17 * stride, parts, 17, 40}, 17 * stride * parts});
                out.push_back({{piece, parts * stride, stride, parts, 17, 40}, 17 * stride * parts});
            }
    return out;
}

std::vector<uint32_t> list_of(uint32_t count) { // every block in turn, odd ones first, and some that there are not
    std::vector<uint32_t> list(count);
    for (uint32_t i = 0; i < count; ++i) list[i] = i % 11 == 7 ? 17 + i * 0x01000193u % 0x7fffffffu : (i * 5 + 3) % 17;
    return list;
}

void twin(void (*group)(const device::TwinBuffer *, const KvBlocks &, const device::TwinGroup &), const KvBlocks &layout,
          std::vector<uint8_t> &pool, std::vector<uint32_t> &list, std::vector<uint8_t> &packed,
          std::vector<uint32_t> &outcome) {
    const device::TwinBuffer buffers[] = {{pool.data(), pool.size()},
                                          {list.data(), 4 * list.size()},
                                          {packed.data(), packed.size()},
                                          {outcome.data(), 4 * outcome.size()}};
    group(buffers, layout, {0, 1, 8});
}

TEST_P(KvMove, GatherIsTheTwins) {
    for (const auto &[layout, pool_size] : cases())
        for (const auto stores : {Stores::regular, Stores::streaming}) {
            auto pool = random_bytes(pool_size, 1),
                 packed = random_bytes(layout.count * layout.parts * layout.piece_size, 2);
            auto list = list_of(static_cast<uint32_t>(layout.count));
            const Guarded memory(packed.size());
            uint8_t *const ours = memory.end() - packed.size();
            memcpy(ours, packed.data(), packed.size());
            std::vector<uint32_t> outcome(layout.count, 9), expected(layout.count, 9);
            kv_gather(layout, pool.data(), list.data(), ours, outcome.data(), stores);
            twin(&device::kv_gather_twin::run, layout, pool, list, packed, expected);
            ASSERT_EQ(outcome, expected);
            ASSERT_EQ(memcmp(ours, packed.data(), packed.size()), 0)
                << "pieces of " << layout.piece_size << ", " << layout.parts << " parts";
        }
}

TEST_P(KvMove, ScatterIsTheTwins) {
    for (auto [layout, pool_size] : cases())
        for (const auto stores : {Stores::regular, Stores::streaming}) {
            layout.count = 15; // each block once at most: what two entries of one block leave is not defined
            auto pool = random_bytes(pool_size, 1),
                 packed = random_bytes(layout.count * layout.parts * layout.piece_size, 2);
            auto list = list_of(15);
            const Guarded memory(pool.size());
            uint8_t *const ours = memory.end() - pool.size();
            memcpy(ours, pool.data(), pool.size());
            std::vector<uint32_t> outcome(layout.count, 9), expected(layout.count, 9);
            kv_scatter(layout, ours, list.data(), packed.data(), outcome.data(), stores);
            twin(&device::kv_scatter_twin::run, layout, pool, list, packed, expected);
            ASSERT_EQ(outcome, expected);
            ASSERT_EQ(memcmp(ours, pool.data(), pool.size()), 0)
                << "pieces of " << layout.piece_size << ", " << layout.parts << " parts";
        }
}

TEST_P(KvMove, NothingListedMovesNothing) {
    uint8_t byte = 7;
    for (const auto stores : {Stores::regular, Stores::streaming}) {
        kv_gather({64, 64, 64, 1, 1, 0}, &byte, nullptr, &byte, nullptr, stores);
        const uint32_t list = 4;
        uint32_t outcome = 9;
        kv_gather({64, 64, 64, 1, 4, 1}, &byte, &list, &byte, &outcome, stores);
        EXPECT_EQ(outcome, HBF_KV_REFUSED);
    }
    EXPECT_EQ(byte, 7);
}

} // namespace
} // namespace hbf::kernels
