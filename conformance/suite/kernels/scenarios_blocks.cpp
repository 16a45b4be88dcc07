// SPDX-License-Identifier: Apache-2.0
// Scenarios of the kernels that work on blocks of keys and values.
#include <cmath>

#include "conformance/suite/kernels/scenario.hpp"
#include "kernels/device/attention.h"
#include "kernels/device/attention_merge.h"
#include "kernels/device/kv_gather.h"
#include "kernels/device/kv_scatter.h"

namespace hbf::conformance::scenario {
namespace {

using namespace kernels::device;
constexpr uint32_t reads = HBF_KERNEL_READS, writes = HBF_KERNEL_WRITES;

template <class T>
std::vector<std::byte> packed(const std::vector<T> &values) {
    std::vector<std::byte> out((values.size() * sizeof(T) + 7) / 8 * 8);
    std::memcpy(out.data(), values.data(), values.size() * sizeof(T));
    return out;
}

// Some blocks of a pool, in no order, one of them not in the pool.
void moves(std::vector<Scenario> &out, uint64_t seed, uint32_t most, bool to_pool) {
    constexpr uint32_t blocks = 9, parts = 2, listed = 5;
    for (const uint64_t piece : {8, 264, 1024}) {
        const kv_blocks layout{piece, 3 * piece + 16, piece + 8, parts, blocks, listed};
        const std::vector<uint32_t> list = {7, 0, blocks, 3, 8};
        out.push_back({"",
                       fmt::format("pieces of {} bytes", piece),
                       {{random_bytes(seed, blocks * layout.block_stride), to_pool ? writes : reads},
                        {packed(list), reads},
                        {random_bytes(seed + 1, listed * parts * piece), to_pool ? reads : writes},
                        {random_bytes(seed + 2, (listed * 4 + 7) / 8 * 8), writes}},
                       bytes_of(layout),
                       {3, 1, 1},
                       {std::min(most, usual_items), 1, 1}});
    }
}

float some_number(Random &random) {
    return static_cast<float>(random.below(1u << 20)) / (1u << 18) - 2.0f; // exact
}

std::vector<float> numbers(uint64_t seed, uint64_t count) {
    Random random(seed);
    std::vector<float> out(count);
    for (float &one : out) one = some_number(random);
    return out;
}

// Small: a CPU counts it through.
void attend(std::vector<Scenario> &out, uint64_t seed, uint32_t most) {
    struct Given {
        uint32_t query_heads, kv_heads, element;
    };
    for (const Given &given :
         {Given{4, 2, HBF_ELEMENT_FP32}, Given{5, 1, HBF_ELEMENT_BF16}, Given{2, 2, HBF_ELEMENT_FP16}}) {
        const kv_shape shape{given.query_heads, given.kv_heads, 32, 16, given.element, 0.176776695f};
        const uint64_t block = kv_block_size(shape);
        // Whole, in part, without tokens, and one that does not fit.
        const std::vector<kv_block> table = {{block, 16, 0}, {0, 5, 0}, {0, 0, 0}, {2 * block + 8, 16, 0}};
        std::vector<std::byte> kv = packed(numbers(seed, 2 * block / 4));
        if (given.element != HBF_ELEMENT_FP32) { // 16 bits each: exponents that make no infinity
            kv = random_bytes(seed, 2 * block);
            for (size_t i = 1; i < kv.size(); i += 2) kv[i] = (kv[i] & std::byte{0x83}) | std::byte{0x3c};
        }
        const uint64_t heads = table.size() * shape.query_heads;
        out.push_back({"",
                       fmt::format("{} heads on {}, numbers of kind {}", given.query_heads, given.kv_heads, given.element),
                       {{kv, reads},
                        {packed(table), reads},
                        {packed(numbers(seed + 1, uint64_t{shape.query_heads} * shape.head_dim)), reads},
                        {random_bytes(seed + 2, heads * 8), writes, true},
                        {random_bytes(seed + 3, heads * shape.head_dim * 4), writes, true}},
                       bytes_of(attention_arguments{2 * block, shape, static_cast<uint32_t>(table.size()), 0}),
                       {3, 1, 1},
                       {std::min(most, usual_items), 1, 1}});
    }
}

void merge(std::vector<Scenario> &out, uint64_t seed, uint32_t most) {
    constexpr uint32_t blocks = 3, heads = 4, dim = 16;
    std::vector<float> state = numbers(seed, uint64_t{2} * blocks * heads);
    for (size_t i = 1; i < state.size(); i += 2) state[i] = 1 + std::fabs(state[i]); // sums of weights
    state[0] = -INFINITY, state[1] = 0;
    state[2 * heads + 2] = NAN;
    out.push_back({"",
                   "three blocks, one empty for a head, one NaN for another",
                   {{packed(state), reads},
                    {packed(numbers(seed + 1, uint64_t{blocks} * heads * dim)), reads},
                    {random_bytes(seed + 2, heads * 8), writes, true},
                    {random_bytes(seed + 3, heads * dim * 4), writes, true}},
                   bytes_of(attention_merge_arguments{blocks, heads, dim, 0}),
                   {2, 1, 1},
                   {std::min(most, usual_items), 1, 1}});
}

} // namespace

void blocks(std::vector<Scenario> &out, std::string_view kernel, uint64_t seed, uint32_t most_items) {
    if (kernel == "kv_gather/1") moves(out, seed, most_items, false);
    if (kernel == "kv_scatter/1") moves(out, seed, most_items, true);
    if (kernel == "attention/1") attend(out, seed, most_items);
    if (kernel == "attention_merge/1") merge(out, seed, most_items);
}

} // namespace hbf::conformance::scenario
