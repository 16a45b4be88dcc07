// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/coherence/kernel_agent.hpp"

#include <algorithm>

#include "conformance/suite/coherence/scene.hpp"

namespace hbf::conformance::coherence {

KernelAgent::KernelAgent(Context &context, const Instance &device, std::string_view name) {
    info_.struct_size = sizeof info_;
    ErrorBuffer error;
    const Call call = error.call(device.kernels_table()->find(device.handle(), {name.data(), name.size()}, &info_, error));
    if (call.status == HBF_UNSUPPORTED) context.not_supported(fmt::format("the device has no {}: {}", name, call.message));
    must(call, "find of the kernel {}", name);
}

uint32_t KernelAgent::group_size(uint32_t wanted) const {
    return std::max(1u, std::min(wanted, info_.max_group_size));
}

Launch KernelAgent::launch_of(uint32_t groups, uint32_t group_size) const {
    Launch out;
    out.command_.kind = HBF_COMMAND_LAUNCH;
    hbf_launch &launch = out.command_.u.launch;
    launch.kernel = info_.kernel;
    launch.groups[0] = groups, launch.groups[1] = launch.groups[2] = 1;
    launch.group_size[0] = group_size, launch.group_size[1] = launch.group_size[2] = 1;
    return out;
}

hbf_kernel_buffer buffer_of(const hbf_region_info &region, uint32_t access) {
    return {region.region, 0, region.size, access, 0};
}

std::vector<uint32_t> kernel_tiers(const Instance &device) {
    std::vector<uint32_t> out = device.dma_tiers();
    std::erase_if(out, [&](uint32_t tier) { return !(device.tier(tier).access & HBF_ACCESS_DEVICE); });
    return out;
}

std::vector<uint32_t> shared_with_kernels(const Instance &device) {
    std::vector<uint32_t> out = mapped_tiers(device);
    std::erase_if(out, [&](uint32_t tier) {
        return !(device.tier(tier).access & HBF_ACCESS_DEVICE) || !(device.domain_of(tier)->agents & HBF_AGENT_DEVICE);
    });
    return out;
}

std::vector<uint32_t> atomic_with_kernels(const Instance &device) {
    std::vector<uint32_t> out = atomic_tiers(device, HBF_AGENT_CPU | HBF_AGENT_DEVICE);
    std::erase_if(out, [&](uint32_t tier) { return !(device.tier(tier).access & HBF_ACCESS_DEVICE); });
    return out;
}

} // namespace hbf::conformance::coherence
