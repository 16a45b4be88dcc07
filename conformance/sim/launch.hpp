// SPDX-License-Identifier: Apache-2.0
// The device's kernels, which are the host twins of the project's own, and a launch of one as the device keeps it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "conformance/sim/region.hpp"
#include "hbf/abi/command.h"
#include "hbf/abi/kernels.h"
#include "kernels/device/catalogue.hpp"

namespace hbf::sim {

struct Place {
    hbf_region handle = 0; // 0: none, nothing is pinned
    Region *region = nullptr;
    uint64_t offset = 0;
};

struct Launch {
    static constexpr uint32_t most_buffers = 16;
    static constexpr uint64_t most_arguments = 512; // bytes

    struct Buffer {
        Place place;
        uint64_t size = 0;
        bool written = false; // says the host, or the kernel
    };
    const kernels::device::Kernel *kernel = nullptr;
    std::array<Buffer, most_buffers> buffers;
    uint32_t count = 0; // of them
    uint32_t groups[3], group_size[3];
    alignas(16) std::array<std::byte, most_arguments> arguments;
};

constexpr uint32_t most_group_size = 96; // work-items: no power of two, so that nobody takes it for granted

uint32_t kernel_count() noexcept;
std::string_view kernel_name(uint32_t index) noexcept;
void find_kernel(std::string_view name, hbf_kernel_info &out);  // throws UNSUPPORTED
const kernels::device::Kernel *kernel_of(uint64_t id) noexcept; // nullptr: no such id

void run(const Launch &launch) noexcept; // on the device's own memory, group after group

} // namespace hbf::sim
