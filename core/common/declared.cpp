// SPDX-License-Identifier: Apache-2.0
#include "core/common/declared.hpp"

namespace hbf {

hbf_tier_info unfilled_tier() {
    hbf_tier_info info{};
    info.struct_size = sizeof info;
    info.numa_node = -1;
    info.coherence_domain = info.extended_by = HBF_TIER_NONE;
    return info;
}

ProbedDevice device_declared(const hbf_device_info &info) {
    ProbedDevice device;
    device.id = raw_text(info.id);
    device.name = shown_text(info.name);
    device.driver = shown_text(info.driver);
    device.pci_address = shown_text(info.pci_address);
    device.numa_node = info.numa_node;
    device.emulated = info.reality != HBF_REALITY_REAL;
    device.on_cpu = (info.flags & HBF_DEVICE_ON_CPU) != 0;
    return device;
}

TierInfo tier_declared(uint32_t index, const hbf_tier_info &info, bool device_emulated) {
    TierInfo tier;
    tier.index = index;
    tier.kind = static_cast<TierKind>(info.kind);
    tier.media = info.media;
    tier.emulated = device_emulated || info.reality != HBF_REALITY_REAL;
    tier.cpu_access = (info.access & HBF_ACCESS_CPU) != 0;
    tier.device_access = (info.access & HBF_ACCESS_DEVICE) != 0;
    tier.dma_access = (info.access & HBF_ACCESS_DMA) != 0;
    tier.persistent = (info.flags & HBF_TIER_FLAG_PERSISTENT) != 0;
    tier.numa_bound = (info.flags & HBF_TIER_FLAG_NUMA_BOUND) != 0;
    tier.degraded = (info.flags & HBF_TIER_FLAG_DEGRADED) != 0;
    tier.numa_node = info.numa_node;
    if (info.coherence_domain != HBF_TIER_NONE) tier.domain = info.coherence_domain;
    if (info.extended_by != HBF_TIER_NONE) tier.extended_by = info.extended_by;
    tier.line_size = info.line_size;
    tier.capacity = info.capacity;
    tier.available = info.available;
    tier.granule = info.granule;
    tier.alignment = info.alignment;
    tier.copy_alignment = info.copy_alignment;
    tier.nominal_bandwidth = info.nominal_bandwidth;
    tier.nominal_latency_ns = info.nominal_latency_ns;
    tier.name = shown_text(info.name);
    tier.detail = shown_text(info.detail);
    return tier;
}

} // namespace hbf
