// SPDX-License-Identifier: Apache-2.0
// Exact attention: near its definition in fp64, the same bits however tokens are grouped, and clear words for bad input.
#include <sys/mman.h>

#include "core/engine/attention/exact.hpp"
#include "core/engine/attention/memory_place.hpp"
#include "core/engine/attention/testing/sequence.hpp"
#include "core/fabric/testing/allocations.hpp"

namespace hbf::kv {
namespace {

using testing::Blocks;
using testing::must;
using testing::random_query;
using testing::Sequence;

std::vector<float> attended(ExactAttention &attention, const Blocks &blocks, const std::vector<float> &query,
                            uint32_t tokens) {
    MemoryPlace memory(blocks.bytes.data(), blocks.bytes.size());
    AttendPlace *const places[] = {&memory};
    std::vector<float> output(query.size());
    must(attention.attend(blocks.shape, places, blocks.list, query.data(), tokens, output.data()));
    return output;
}

struct Kind {
    uint32_t element, query_heads, kv_heads, dim, tokens;
};
std::ostream &operator<<(std::ostream &out, const Kind &kind) {
    return out << "element " << kind.element << ", heads " << kind.query_heads << "/" << kind.kv_heads << ", dim "
               << kind.dim << ", tokens " << kind.tokens;
}

TEST(ExactAttentionTest, IsAttentionAtEveryBlockSize) {
    ExactAttention attention;
    for (const Kind &kind : {Kind{HBF_ELEMENT_FP16, 8, 2, 64, 700}, Kind{HBF_ELEMENT_BF16, 4, 4, 32, 257},
                             Kind{HBF_ELEMENT_FP32, 6, 1, 48, 1000}, Kind{HBF_ELEMENT_FP16, 4, 2, 128, 1}}) {
        std::mt19937_64 random(kind.tokens);
        Sequence sequence(kind.query_heads, kind.kv_heads, kind.dim, kind.element);
        sequence.append_random(kind.tokens, random);
        const auto query = random_query(sequence.shape, 1, random);
        for (const uint32_t block_tokens : {16u, 48u, 128u, 256u}) {
            const auto output = attended(attention, sequence.blocks(block_tokens), query, 1);
            for (uint32_t head = 0; head < kind.query_heads; ++head) {
                const double bar = kernels::attention_is_fused() ? 2e-6 : 4e-6;
                EXPECT_LE(testing::relative_error(output.data() + head * kind.dim,
                                                  sequence.attend(query.data(), head, kind.tokens)),
                          bar)
                    << kind << ", blocks of " << block_tokens << ", head " << head;
            }
        }
    }
}

// A chunk's token has the bits that it has when it is decoded, wherever the chunk begins and ends.
TEST(ExactAttentionTest, PrefillIsDecodingInBits) {
    std::mt19937_64 random(7);
    constexpr uint32_t total = 300;
    Sequence sequence(8, 2, 32, HBF_ELEMENT_FP16);
    sequence.append_random(total, random);
    const auto query = random_query(sequence.shape, total, random);
    const size_t numbers = 8 * 32;
    ExactAttention attention;
    for (const uint32_t block_tokens : {16u, 64u}) {
        const Blocks blocks = sequence.blocks(block_tokens);
        for (const auto &[first, count] : {std::pair{0u, total}, {0u, 1u}, {250u, 50u}, {15u, 2u}, {64u, 64u}, {63u, 70u}}) {
            Blocks before = blocks; // the sequence as it was when the chunk was its end
            const uint32_t end = first + count;
            before.list.resize((end + block_tokens - 1) / block_tokens);
            before.list.back().at.tokens = end - static_cast<uint32_t>(before.list.size() - 1) * block_tokens;
            const std::vector<float> chunk(query.begin() + static_cast<std::ptrdiff_t>(first * numbers),
                                           query.begin() + static_cast<std::ptrdiff_t>(end * numbers));
            const auto together = attended(attention, before, chunk, count);
            for (uint32_t token = 0; token < count; ++token) {
                Blocks then = blocks;
                const uint32_t seen = first + token + 1;
                then.list.resize((seen + block_tokens - 1) / block_tokens);
                then.list.back().at.tokens = seen - static_cast<uint32_t>(then.list.size() - 1) * block_tokens;
                const std::vector<float> one(chunk.begin() + static_cast<std::ptrdiff_t>(token * numbers),
                                             chunk.begin() + static_cast<std::ptrdiff_t>((token + 1) * numbers));
                const auto alone = attended(attention, then, one, 1);
                ASSERT_EQ(0, std::memcmp(alone.data(), together.data() + token * numbers, numbers * sizeof(float)))
                    << "chunk from " << first << " to " << end << ", token " << token << ", blocks of " << block_tokens;
            }
        }
    }
}

TEST(ExactAttentionTest, SplittingAmongPlacesChangesNoBit) {
    std::mt19937_64 random(8);
    Sequence sequence(4, 2, 64, HBF_ELEMENT_BF16);
    sequence.append_random(1000, random);
    const auto query = random_query(sequence.shape, 3, random);
    Blocks blocks = sequence.blocks(16);
    ExactAttention attention;
    const auto whole = attended(attention, blocks, query, 3);
    std::vector<uint8_t> elsewhere(blocks.bytes.size());
    MemoryPlace here(blocks.bytes.data(), blocks.bytes.size()), there(elsewhere.data(), elsewhere.size());
    AttendPlace *const places[] = {&here, nullptr, &there};
    const uint64_t size = kernels::device::kv_block_size(blocks.shape);
    for (size_t b = 0; b < blocks.list.size(); ++b) {
        if (random() % 2) continue;
        kv_block &at = blocks.list[b].at;
        const uint64_t to = (blocks.list.size() - 1 - b) * size;
        std::memcpy(elsewhere.data() + to, blocks.bytes.data() + at.offset, size);
        std::memset(blocks.bytes.data() + at.offset, 0x7f, size);
        at.offset = to, blocks.list[b].place = 2;
    }
    std::vector<float> output(query.size());
    must(attention.attend(blocks.shape, places, blocks.list, query.data(), 3, output.data()));
    EXPECT_EQ(output, whole);
    EXPECT_EQ(attention.report().passes, 1u);
    EXPECT_EQ(attention.report().blocks, blocks.list.size());
}

TEST(ExactAttentionTest, NumbersThatAreNoneStayWithTheirHead) {
    std::mt19937_64 random(9);
    for (const bool in_keys : {true, false})
        for (const double odd : {std::nan(""), HUGE_VAL}) {
            Sequence sequence(4, 2, 32, HBF_ELEMENT_FP16);
            sequence.append_random(50, random);
            std::vector<double> key(sequence.row(), 0.5), value(sequence.row(), 0.25);
            (in_keys ? key : value)[40] = odd; // of KV head 1
            sequence.append(key.data(), value.data());
            sequence.append_random(50, random);
            std::vector<float> query = random_query(sequence.shape, 1, random);
            query[2 * 32 + 8] = query[3 * 32 + 8] = 1; // so that infinity is not taken for the least of scores
            ExactAttention attention;
            const auto output = attended(attention, sequence.blocks(32), query, 1);
            EXPECT_EQ(attention.report().not_finite, 2u);
            for (size_t i = 0; i < 2 * 32; ++i) EXPECT_TRUE(std::isfinite(output[i])) << i;
            for (uint32_t head = 0; head < 2; ++head)
                EXPECT_LE(testing::relative_error(output.data() + head * 32, sequence.attend(query.data(), head, 101)),
                          4e-6);
        }
}

// A million tokens, of which only 4,096 differ: as many times each, so that they count as once.
TEST(ExactAttentionTest, AMillionTokens) {
    std::mt19937_64 random(10);
    Sequence sequence(1, 1, 16, HBF_ELEMENT_FP16);
    sequence.append_random(4096, random);
    Blocks blocks = sequence.blocks(16);
    const auto once = blocks.list;
    while (blocks.list.size() < 65536) blocks.list.insert(blocks.list.end(), once.begin(), once.end());
    const auto query = random_query(sequence.shape, 1, random);
    ExactAttention attention;
    const auto output = attended(attention, blocks, query, 1);
    EXPECT_LE(testing::relative_error(output.data(), sequence.attend(query.data(), 0, 4096)), 4e-6);
}

TEST(ExactAttentionTest, OffsetsBeyond32Bits) {
    std::mt19937_64 random(11);
    Sequence sequence(2, 1, 32, HBF_ELEMENT_FP32);
    sequence.append_random(64, random);
    Blocks blocks = sequence.blocks(32);
    const uint64_t size = 6ull << 30;
    auto *const memory = static_cast<uint8_t *>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory == MAP_FAILED) GTEST_SKIP() << "no address space of 6 GiB here";
    const auto query = random_query(sequence.shape, 1, random);
    ExactAttention attention;
    const auto near = attended(attention, blocks, query, 1);
    const uint64_t block = kernels::device::kv_block_size(blocks.shape);
    const uint64_t far[] = {(4ull << 30) + 64, size - block};
    for (size_t b = 0; b < 2; ++b) {
        std::memcpy(memory + far[b], blocks.bytes.data() + blocks.list[b].at.offset, block);
        blocks.list[b].at.offset = far[b];
    }
    MemoryPlace place(memory, size);
    AttendPlace *const places[] = {&place};
    std::vector<float> output(query.size());
    must(attention.attend(blocks.shape, places, blocks.list, query.data(), 1, output.data()));
    EXPECT_EQ(output, near);
    munmap(memory, size);
}

TEST(ExactAttentionTest, BadInputIsRefused) {
    std::mt19937_64 random(12);
    Sequence sequence(4, 2, 32, HBF_ELEMENT_FP16);
    sequence.append_random(40, random);
    const Blocks good = sequence.blocks(32);
    const auto query = random_query(sequence.shape, 2, random);
    std::vector<float> output(query.size());
    MemoryPlace memory(good.bytes.data(), good.bytes.size());
    AttendPlace *const places[] = {&memory, nullptr};
    ExactAttention attention;
    const auto refused = [&](const Blocks &blocks, uint32_t tokens, const std::string &words) {
        const auto done = attention.attend(blocks.shape, places, blocks.list, query.data(), tokens, output.data());
        ASSERT_FALSE(done) << words;
        EXPECT_EQ(done.error().code, Code::invalid);
        EXPECT_NE(done.error().message.find(words), std::string::npos) << done.error().message;
    };
    refused(good, 41, "41 tokens, but the blocks hold 40");
    for (const uint32_t place : {1u, 2u}) {
        Blocks bad = good;
        bad.list[1].place = place;
        refused(bad, 1, "place " + std::to_string(place) + ", and there is none");
    }
    Blocks bad = good;
    bad.list[1].at.offset = good.bytes.size();
    refused(bad, 1, "its place has");
    bad = good, bad.list[1].at.offset += 4;
    refused(bad, 1, "a multiple of 8");
    bad = good, bad.list[0].at.tokens = 33;
    refused(bad, 1, "33 tokens");
    bad = good, bad.shape.query_heads = 3;
    refused(bad, 1, "query_heads must be a multiple");
    bad = good, bad.shape.block_tokens = 272;
    refused(bad, 1, "block_tokens must be");
    EXPECT_TRUE(attention.attend(good.shape, places, good.list, query.data(), 2, output.data()))
        << "it is of use afterwards";
}

TEST(ExactAttentionTest, OnceWarmedNothingIsAllocated) {
    std::mt19937_64 random(13);
    Sequence sequence(4, 2, 32, HBF_ELEMENT_FP16);
    sequence.append_random(700, random);
    const Blocks blocks = sequence.blocks(16);
    const auto query = random_query(sequence.shape, 5, random);
    std::vector<float> output(query.size());
    MemoryPlace memory(blocks.bytes.data(), blocks.bytes.size());
    AttendPlace *const places[] = {&memory};
    ExactAttention attention;
    must(attention.attend(blocks.shape, places, blocks.list, query.data(), 5, output.data()));
    const auto before = hbf::testing::allocations();
    for (const uint32_t tokens : {1u, 5u})
        must(attention.attend(blocks.shape, places, blocks.list, query.data(), tokens, output.data()));
    EXPECT_EQ(hbf::testing::allocations() - before, 0u);
}

TEST(ExactAttentionTest, OutOfMemoryIsSaid) {
    std::mt19937_64 random(14);
    Sequence sequence(4, 2, 32, HBF_ELEMENT_FP16);
    sequence.append_random(100, random);
    const Blocks blocks = sequence.blocks(16);
    const auto query = random_query(sequence.shape, 3, random);
    std::vector<float> output(query.size());
    MemoryPlace memory(blocks.bytes.data(), blocks.bytes.size());
    AttendPlace *const places[] = {&memory};
    uint64_t nth = 1;
    for (bool failed = true; failed; ++nth) {
        ExactAttention attention;
        hbf::testing::fail_allocation(nth);
        const auto done = attention.attend(blocks.shape, places, blocks.list, query.data(), 3, output.data());
        failed = hbf::testing::allocation_failed();
        hbf::testing::fail_allocation(0);
        EXPECT_EQ(done.has_value(), !failed) << nth;
        if (!done) {
            EXPECT_EQ(done.error().code, Code::exhausted);
        }
    }
    EXPECT_GT(nth, 4u);
}

} // namespace
} // namespace hbf::kv
