// SPDX-License-Identifier: Apache-2.0
// Fills of every width: odd lengths, where the last pattern is cut, and every alignment.
#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

std::vector<uint64_t> lengths_of(uint32_t width) {
    std::vector<uint64_t> out;
    for (uint64_t length = 1; length <= 67; ++length) out.push_back(length);
    for (const uint64_t around : {128u, 4096u, 65536u})
        for (const uint64_t length : {around - 1, uint64_t{around}, around + 1, around + width - 1}) out.push_back(length);
    return out;
}

HBF_CASE("dma.fill.pattern_all_widths_odd_lengths",
         {.rules = {"HBF-DMA-2", "HBF-DMA-3"},
          .kills = {"m17_fill_odd_length_wrong", "fill_takes_high_bytes", "zero_fill_ok", "mlu370_fill_tail_kept"}}) {
    Instance &device = context.device();
    constexpr uint32_t batch = 64;
    const uint32_t most = commands_of(device, batch);
    for (const uint32_t tier : device.dma_tiers()) {
        const std::string name = device.tier(tier).name;
        ByteAccess access(device);
        Buffers buffers(device);
        const hbf_region_info region = buffers.make(tier, 1 << 20);
        Model model(access, region, name, name);
        const Queue queue(device, 0, most);
        for (const uint32_t width : {1u, 2u, 4u, 8u}) {
            model.load(context.seed(), width);
            std::vector<hbf_command> commands;
            uint64_t at = 64;
            Random random(context.seed() + width);
            for (const uint64_t length : lengths_of(width)) {
                commands.push_back(model.fill(at, length, random(), width)); // bytes above the width must not count
                at += length + 64 + commands.size() % 9;                     // starts meet every alignment
            }
            run_batches(device, queue, commands, most);
            model.verify(context, fmt::format("patterns of {} bytes in {}", width, name));
            uint64_t value = 0;
            const Call empty = device.submit(queue, {fill_command(region.region, 0, 0, 1, width)}, value);
            context.check_status(empty, HBF_INVALID, fmt::format("a fill of 0 bytes in {}", name));
        }
    }
}

} // namespace
} // namespace hbf::conformance
