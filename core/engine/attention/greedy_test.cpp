// SPDX-License-Identifier: Apache-2.0
// A small model of Llama's shape with random weights decodes the same 500 tokens whatever the block size is, wherever the
// blocks lie, and as by attention in fp64.
#include "core/engine/attention/device_place.hpp"
#include "core/engine/attention/exact.hpp"
#include "core/engine/attention/memory_place.hpp"
#include "core/engine/attention/region_source.hpp"
#include "core/engine/attention/selective.hpp"
#include "core/engine/attention/source_place.hpp"
#include "core/engine/attention/testing/llama.hpp"
#include "core/engine/attention/testing/sequence.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::kv {
namespace {

using testing::Llama;
using testing::LlamaShape;
using testing::must;

constexpr uint32_t decoded = 500, seed = 20;

// Where a block lies: memory, fetched from a region, or a device's.
enum Where : uint32_t { here, fetched, on_device };

// One decoding's keys and values: each layer's blocks are in three pools of the fake device, as split() says.
class Store {
public:
    Store(Device &device, const LlamaShape &of, uint32_t block_tokens, std::function<Where(uint32_t, uint32_t)> split)
        : shape_{of.query_heads, of.kv_heads,      of.head_dim,
                 block_tokens,   HBF_ELEMENT_FP16, 1 / std::sqrt(static_cast<float>(of.head_dim))},
          split_(std::move(split)), lists_(of.layers) {
        blocks_of_layer_ = (decoded + block_tokens - 1) / block_tokens;
        size_ = kernels::device::kv_block_size(shape_);
        for (auto &pool : pools_)
            pool = must(device.allocate(hbf::testing::dram, (of.layers * blocks_of_layer_ * size_ + 65535) / 65536 * 65536));
        memory_ = std::make_unique<MemoryPlace>(pools_[here].address, pools_[here].size);
        source_ = must(SourcePlace::open(must(RegionSource::open(device, pools_[fetched].region)), {1 << 20, 2}));
        device_ = must(DevicePlace::open(device, pools_[on_device].region));
    }

    void attend(uint32_t layer, const float *key, const float *value, const float *query, float *out) {
        auto &list = lists_[layer];
        if (list.empty() || list.back().at.tokens == shape_.block_tokens) {
            const auto number = static_cast<uint32_t>(list.size());
            list.push_back({{(layer * blocks_of_layer_ + number) * size_, 0, 0}, split_(layer, number)});
        }
        Block &last = list.back();
        std::vector<uint16_t> keys, values;
        for (uint32_t i = 0; i < shape_.kv_heads * shape_.head_dim; ++i) {
            keys.push_back(kernels::testing::to_fp16(static_cast<double>(key[i])));
            values.push_back(kernels::testing::to_fp16(static_cast<double>(value[i])));
        }
        kernels::attention_pack(shape_, keys.data(), values.data(), last.at.tokens, 1,
                                pools_[last.place].address + last.at.offset);
        ++last.at.tokens;
        AttendPlace *const places[] = {memory_.get(), source_.get(), device_.get()};
        must(attention_.attend(shape_, places, list, query, 1, out));
    }

    void free(Device &device) {
        source_.reset(), device_.reset();
        for (auto &pool : pools_) must(device.free(pool.region));
    }

private:
    kv_shape shape_;
    std::function<Where(uint32_t, uint32_t)> split_;
    std::vector<std::vector<Block>> lists_;
    uint64_t blocks_of_layer_ = 0, size_ = 0;
    RegionInfo pools_[3];
    std::unique_ptr<MemoryPlace> memory_;
    std::unique_ptr<SourcePlace> source_;
    std::unique_ptr<DevicePlace> device_;
    ExactAttention attention_;
};

std::vector<uint32_t> decode(const Llama::Attend &attend) {
    Llama model(seed);
    std::vector<uint32_t> tokens{1};
    for (uint32_t position = 0; position < decoded; ++position)
        tokens.push_back(model.step(tokens.back(), position, attend));
    return tokens;
}

std::vector<uint32_t> decode_by_definition() {
    const LlamaShape shape;
    std::vector<testing::Sequence> layers(
        shape.layers, testing::Sequence(shape.query_heads, shape.kv_heads, shape.head_dim, HBF_ELEMENT_FP16));
    return decode([&](uint32_t layer, const float *key, const float *value, const float *query, float *out) {
        testing::Sequence &sequence = layers[layer];
        sequence.append(key, value);
        for (uint32_t head = 0; head < shape.query_heads; ++head)
            for (const double number : sequence.attend(query, head, sequence.tokens())) *out++ = static_cast<float>(number);
    });
}

class GreedyTest : public hbf::testing::FabricTest {};

TEST_F(GreedyTest, TheSameTokensEverywhere) {
    script.kernels = {"attention/1"};
    Device device = FabricTest::open();
    const auto expected = decode_by_definition();
    std::vector<uint32_t> different(expected);
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    ASSERT_GT(different.size(), 100u) << "a model that repeats itself proves nothing";
    const std::pair<const char *, std::function<Where(uint32_t, uint32_t)>> splits[] = {
        {"memory", [](uint32_t, uint32_t) { return here; }},
        {"fetched", [](uint32_t, uint32_t) { return fetched; }},
        {"device", [](uint32_t, uint32_t) { return on_device; }},
        {"first blocks on the device", [](uint32_t, uint32_t block) { return block < 3 ? on_device : fetched; }},
        {"mixed", [](uint32_t layer, uint32_t block) { return static_cast<Where>((layer + block * 7) % 3); }},
    };
    for (const uint32_t block_tokens : {16u, 32u, 64u, 128u, 256u})
        for (const auto &[name, split] : splits) {
            if (block_tokens > 32 && name != splits[4].first && name != splits[0].first) continue;
            Store store(device, {}, block_tokens, split);
            EXPECT_EQ(decode([&](auto &&...all) { store.attend(all...); }), expected)
                << name << ", blocks of " << block_tokens;
            store.free(device);
        }
}

} // namespace
} // namespace hbf::kv
