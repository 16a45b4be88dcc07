// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model.hpp"

namespace hbf::sim {

// Lines and granules differ from each other and from a host's usual 64 and 4096 where they may, so that a number taken for
// granted shows. Limits are small, so that reaching them is quick.
Model small_model(const SimOptions &options) {
    constexpr uint32_t agents = HBF_AGENT_CPU | HBF_AGENT_DEVICE | HBF_AGENT_COPY_ENGINE;
    constexpr uint32_t everybody = HBF_ACCESS_CPU | HBF_ACCESS_DEVICE | HBF_ACCESS_DMA;
    Model model;
    model.domains = {
        {"shadowed", HBF_PROTOCOL_SOFTWARE, 128, agents, 0,
         "simulated: the CPU's copy is private until flush or invalidate"},
        {"shared", HBF_PROTOCOL_HARDWARE, 64, agents, 15, "simulated: CPU, kernels and copy engines use the same memory"},
    };
    model.tiers = {
        {"vram0", HBF_TIER_HBM, HBF_MEDIA_HBM, everybody, 0, 1, options.vram, 65536, 2 << 20, false,
         "simulated device memory; the CPU sees it through a private shadow"},
        {"hbf0", HBF_TIER_HBF, HBF_MEDIA_DRAM, everybody, 1, 2, options.hbf, 4096, 2 << 20, false,
         "simulated coherent memory, shared by the CPU and the copy engines"},
        {"cold0", HBF_TIER_COLD, HBF_MEDIA_BLOCK, HBF_ACCESS_DMA, HBF_DOMAIN_NONE, HBF_TIER_NONE, options.cold, 16384, 16384,
         !options.folder.empty(), "simulated storage: what was never written takes no memory"},
    };
    model.queues.struct_size = sizeof model.queues;
    model.queues.capabilities = HBF_QUEUE_CAP_CRC32C | HBF_QUEUE_CAP_LAUNCH | HBF_QUEUE_CAP_CANCEL;
    model.queues.visibility = HBF_VISIBLE_DEVICE | HBF_VISIBLE_HOST;
    model.queues.max_depth = 32;
    model.queues.max_commands = 64;
    model.queues.max_queues = 16;
    model.default_depth = 16;
    return model;
}

} // namespace hbf::sim
