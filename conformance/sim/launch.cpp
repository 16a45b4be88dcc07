// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/launch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/text.hpp"

namespace hbf::sim {
namespace {

constexpr uint64_t first_id = 0x5100; // no index, no address

} // namespace

uint32_t kernel_count() noexcept {
    return static_cast<uint32_t>(kernels::device::catalogue().size());
}

std::string_view kernel_name(uint32_t index) noexcept {
    return kernels::device::catalogue()[index].name;
}

void find_kernel(std::string_view name, hbf_kernel_info &out) {
    const kernels::device::Kernel *const kernel = kernels::device::find(name);
    if (!kernel)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("no kernel \"{}\": the simulated device has the {} of kernels/device", name, kernel_count()));
    if (kernel->buffer_count > Launch::most_buffers || kernel->arguments_size > Launch::most_arguments)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("kernel \"{}\" has more buffers or arguments than a launch holds here", name));
    out.max_group_size = most_group_size;
    out.kernel = first_id + static_cast<uint64_t>(kernel - kernels::device::catalogue().data());
    out.arguments_size = kernel->arguments_size;
    out.buffer_count = kernel->buffer_count;
    out.concurrent_groups = 1;
    sdk::set_text(out.name, kernel->name);
    sdk::set_text(out.origin, "host twin, simulated");
}

const kernels::device::Kernel *kernel_of(uint64_t id) noexcept {
    const auto all = kernels::device::catalogue();
    return id >= first_id && id - first_id < all.size() ? &all[id - first_id] : nullptr;
}

void run(const Launch &launch) noexcept {
    std::array<kernels::device::TwinBuffer, Launch::most_buffers> buffers;
    for (uint32_t i = 0; i < launch.count; ++i)
        buffers[i] = {launch.buffers[i].place.region->store.at(launch.buffers[i].place.offset), launch.buffers[i].size};
    kernels::device::run(*launch.kernel, buffers.data(), launch.arguments.data(), launch.groups, launch.group_size);
}

} // namespace hbf::sim
