// SPDX-License-Identifier: Apache-2.0
// Attention and sketches on every OpenCL device of this machine and in the host's vectors: the same bits, for every kind of
// stored number, for full, ragged and empty blocks, NaN, infinity, and entries that do not fit.
#include "hbf/sdk/failure.hpp"
#include "kernels/equality/device.hpp"
#include "kernels/host/attention/model_test.hpp"
#include "kernels/host/attention/sketch.hpp"
#include "kernels/host/variants_test.hpp"

namespace hbf::kernels {
namespace {

using Bytes = std::vector<uint8_t>;

template <class T>
Bytes bytes_of(const std::vector<T> &list) {
    Bytes bytes(list.size() * sizeof(T));
    memcpy(bytes.data(), list.data(), bytes.size());
    return bytes;
}
template <class T>
Bytes bytes_of(const T &value) {
    Bytes bytes(sizeof value);
    memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

// Blocks of one shape behind each other, and their sketches.
struct Blocks {
    device::sketch_shape shape;
    std::vector<float> query;
    Bytes kv, sketches;
    std::vector<device::kv_block> of_kv, of_sketches;

    explicit Blocks(uint32_t element, uint32_t dim, uint32_t bits)
        : shape{{6, 2, dim, 32, element, 1 / std::sqrt(static_cast<float>(dim))}, bits, 0} {
        std::mt19937_64 random(element * 1000 + dim);
        std::normal_distribution<double> normal;
        query.resize(6 * dim);
        for (float &number : query) number = static_cast<float>(2 * normal(random));
        uint32_t number = 0;
        for (const uint32_t tokens : {32u, 0u, 1u, 17u, 32u, 20u, 20u}) {
            const double odd = number == 5 ? std::nan("") : number == 6 ? -HUGE_VAL : 1;
            const auto make = [&](uint32_t token, uint32_t head, uint32_t i) {
                return (token == 3 && head == 1 && i == 40 ? odd : 1) * normal(random);
            };
            const testing::Model model(shape.kv, tokens, query, make, make);
            Bytes sketch(device::sketch_block_size(shape));
            if (!sketch_make(shape, model.block.data(), tokens, sketch.data())) std::abort();
            of_kv.push_back({kv.size(), tokens, 0});
            of_sketches.push_back({sketches.size(), tokens, 0});
            kv.insert(kv.end(), model.block.begin(), model.block.end());
            sketches.insert(sketches.end(), sketch.begin(), sketch.end());
            ++number;
        }
        of_kv.push_back({kv.size(), 1, 0});
        of_sketches.push_back({0, 33, 0});
    }
    uint32_t count() const { return static_cast<uint32_t>(of_kv.size()); }
};

void expect_same(const Bytes &theirs, const std::vector<float> &ours, const char *what) {
    const Bytes bytes = bytes_of(ours);
    ASSERT_EQ(theirs.size(), bytes.size());
    const auto at = std::mismatch(bytes.begin(), bytes.end(), theirs.begin()).first - bytes.begin();
    ASSERT_EQ(static_cast<size_t>(at), bytes.size()) << what << ": differs at number " << at / 4;
}

void compare(Device &device, const Device::Built &attend, const Device::Built &merge, const Device::Built &score,
             const Blocks &blocks) {
    const device::kv_shape &kv = blocks.shape.kv;
    const size_t states = 2 * size_t{blocks.count()} * kv.query_heads, outputs = states / 2 * kv.head_dim;
    std::vector<float> state(states), output(outputs), merged_state(2 * kv.query_heads),
        merged(kv.query_heads * kv.head_dim), scores(states / 2 * 3);
    const device::attention_arguments arguments{blocks.kv.size(), kv, blocks.count(), 0};
    attention({blocks.kv.data(), blocks.of_kv.data(), blocks.query.data(), state.data(), output.data()}, arguments);
    std::vector<Bytes> buffers = {blocks.kv, bytes_of(blocks.of_kv), bytes_of(blocks.query), Bytes(4 * states, 0xEE),
                                  Bytes(4 * outputs, 0xEE)};
    device.launch(attend, buffers, bytes_of(arguments), 3, 24, 8);
    ASSERT_NO_FATAL_FAILURE(expect_same(buffers[3], state, "m and l"));
    ASSERT_NO_FATAL_FAILURE(expect_same(buffers[4], output, "o"));

    const device::attention_merge_arguments of_merge{5, kv.query_heads, kv.head_dim, 0}; // without the odd ones
    attention_merge(state.data(), output.data(), merged_state.data(), merged.data(), of_merge);
    buffers = {bytes_of(state), bytes_of(output), bytes_of(merged_state), bytes_of(merged)};
    std::fill(buffers[3].begin(), buffers[3].end(), uint8_t{0xEE});
    device.launch(merge, buffers, bytes_of(of_merge), 2, 16, 0);
    ASSERT_NO_FATAL_FAILURE(expect_same(buffers[2], merged_state, "merged m and l"));
    ASSERT_NO_FATAL_FAILURE(expect_same(buffers[3], merged, "merged o"));

    const device::sketch_score_arguments of_score{blocks.sketches.size(), blocks.shape, blocks.count(), 0};
    sketch_score({blocks.sketches.data(), blocks.of_sketches.data(), blocks.query.data(), scores.data()}, of_score);
    buffers = {blocks.sketches, bytes_of(blocks.of_sketches), bytes_of(blocks.query), Bytes(4 * scores.size(), 0xEE)};
    device.launch(score, buffers, bytes_of(of_score), 3, 24, 8);
    ASSERT_NO_FATAL_FAILURE(expect_same(buffers[3], scores, "m, l and e"));
}

TEST(AttentionEquality, OfVectorsAndOpenCl) {
    if (!attention_is_fused())
        GTEST_SKIP() << attention_target()
                     << " rounds products: its bits are its own, within the bounds its tests hold it to";
    std::vector<std::unique_ptr<Device>> devices;
    try {
        devices = Device::all();
    } catch (const sdk::Failure &failure) {
        GTEST_SKIP() << failure.message;
    }
    if (devices.empty()) GTEST_SKIP() << "no OpenCL device here (Debian and Ubuntu: pocl-opencl-icd)";
    for (const auto &device : devices) try {
            const auto attend = device->build(*device::find("attention/1")),
                       merge = device->build(*device::find("attention_merge/1")),
                       score = device->build(*device::find("sketch_score/1"));
            for (const uint32_t element : {HBF_ELEMENT_FP16, HBF_ELEMENT_BF16, HBF_ELEMENT_FP32})
                for (const uint32_t dim : {64u, 80u}) {
                    SCOPED_TRACE(::testing::Message() << device->name() << ": element " << element << " dim " << dim);
                    const uint32_t bits = dim == 64 ? 4 : element == HBF_ELEMENT_FP16 ? 2 : 8;
                    ASSERT_NO_FATAL_FAILURE(compare(*device, attend, merge, score, Blocks(element, dim, bits)));
                }
            device->drop(attend), device->drop(merge), device->drop(score);
        } catch (const sdk::Failure &failure) {
            FAIL() << device->name() << ": " << failure.message;
        }
}

} // namespace
} // namespace hbf::kernels
