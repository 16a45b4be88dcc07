// SPDX-License-Identifier: Apache-2.0
// Blocks of keys and values: [layer][token][head] on one side, [layer][head][token] on the other, as a batch of small
// strided copies, the commands themselves further apart than their size.
#include <cstring>

#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t layers = 3, tokens = 16, heads = 4, head_bytes = 160; // 80 values of 16 bits
constexpr uint64_t gap = 96;                                             // after each head, in both layouts
constexpr uint64_t head_stride = head_bytes + gap, layer_stride = tokens * heads * head_stride;

hbf_batch padded(std::vector<std::byte> &memory, const std::vector<hbf_command> &commands, uint32_t stride) {
    memory.assign(commands.size() * stride, std::byte{0xee}); // between commands: nothing to read
    for (uint64_t i = 0; i < commands.size(); ++i) std::memcpy(memory.data() + i * stride, &commands[i], sizeof commands[i]);
    hbf_batch out{};
    out.struct_size = sizeof out;
    out.command_stride = stride;
    out.commands = reinterpret_cast<const hbf_command *>(memory.data());
    out.command_count = commands.size();
    return out;
}

std::vector<hbf_command> transposed(Model &to, const Model &from, uint64_t layer) {
    std::vector<hbf_command> out;
    for (uint64_t token = 0; token < tokens; ++token) {
        for (uint64_t head = 0; head < heads; ++head) {
            const uint64_t source = layer * layer_stride + (token * heads + head) * head_stride;
            const uint64_t destination = layer * layer_stride + (head * tokens + token) * head_stride;
            out.push_back(to.copy_from(destination, from, source, head_bytes));
        }
    }
    return out;
}

HBF_CASE("dma.copy.strided_kv_block_layout", {.rules = {"HBF-DMA-2", "HBF-ABI-7"},
                                              .kills = {"m14_stride_ignored", "command_stride_ignored"},
                                              .needs = need::cpu_tier}) {
    Instance &device = context.device();
    constexpr uint64_t batch = tokens * heads;
    std::vector<std::byte> memory;
    for (const Route &route : routes_from_cpu(device)) {
        Pair pair(context, route, layers * layer_stride, layers * layer_stride, batch);
        for (uint64_t layer = 0; layer < layers; ++layer) {
            const auto commands = transposed(pair.destination, pair.source, layer);
            const uint32_t stride = HBF_COMMAND_SIZE + 8 * static_cast<uint32_t>(layer * 5);
            for (uint64_t done = 0; done < commands.size(); done += pair.most) {
                const auto begin = commands.begin() + static_cast<std::ptrdiff_t>(done);
                const auto count = std::min<uint64_t>(pair.most, commands.size() - done);
                const hbf_batch strided = padded(memory, {begin, begin + static_cast<std::ptrdiff_t>(count)}, stride);
                ErrorBuffer error;
                uint64_t value = 0;
                must(error.call(device.queue_table().submit(pair.queue, &strided, &value, error)),
                     "a batch of {} commands {} bytes apart", count, stride);
                device.must_complete(pair.queue, value);
            }
            pair.run(context, {}, fmt::format("layer {}, commands {} bytes apart, {}", layer, stride, route.name()));
        }
    }
}

} // namespace
} // namespace hbf::conformance
