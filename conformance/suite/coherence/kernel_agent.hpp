// SPDX-License-Identifier: Apache-2.0
// A kernel of the device as an agent of a case: found by name, launched on regions.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "conformance/suite/context.hpp"

namespace hbf::conformance::coherence {

// What a launch command points to. It lives until submit has returned.
class Launch {
public:
    const hbf_command &command() {
        command_.u.launch.buffers = buffers.data();
        command_.u.launch.buffer_count = buffers.size();
        command_.u.launch.arguments = arguments.data();
        command_.u.launch.arguments_size = arguments.size();
        return command_;
    }
    std::vector<hbf_kernel_buffer> buffers;
    std::vector<std::byte> arguments;

private:
    friend class KernelAgent;
    hbf_command command_{};
};

class KernelAgent {
public:
    // Ends the case as not supported where the device has no kernel of this name.
    KernelAgent(Context &context, const Instance &device, std::string_view name);

    const hbf_kernel_info &info() const { return info_; }
    // At most `wanted` work-items a group, as many as the device can have.
    uint32_t group_size(uint32_t wanted) const;

    template <class Arguments>
    Launch launch(const Arguments &arguments, std::vector<hbf_kernel_buffer> buffers, uint32_t groups,
                  uint32_t group_size) const {
        Launch out = launch_of(groups, group_size);
        out.buffers = std::move(buffers);
        out.arguments.resize(sizeof arguments);
        std::memcpy(out.arguments.data(), &arguments, sizeof arguments);
        return out;
    }

private:
    Launch launch_of(uint32_t groups, uint32_t group_size) const;
    hbf_kernel_info info_{};
};

// A whole region as a buffer; HBF_KERNEL_* access.
hbf_kernel_buffer buffer_of(const hbf_region_info &region, uint32_t access);

// Tiers that kernels and commands reach.
std::vector<uint32_t> kernel_tiers(const Instance &device);
// Of those that the CPU reaches as well, the ones in a domain that has both it and the device in it.
std::vector<uint32_t> shared_with_kernels(const Instance &device);
// Of these, the ones in hardware domains with 8-byte atomics.
std::vector<uint32_t> atomic_with_kernels(const Instance &device);

} // namespace hbf::conformance::coherence
