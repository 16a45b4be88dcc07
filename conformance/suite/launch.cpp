// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/launch.hpp"

#include <algorithm>
#include <stdexcept>

namespace hbf::conformance {
namespace {

const hbf_kernels_ext &table_of(const Instance &device) {
    if (!device.kernels_table()) throw std::logic_error("the device declares no kernels, and the case no need");
    return *device.kernels_table();
}

} // namespace

std::vector<std::string> kernel_names(const Instance &device) {
    const hbf_kernels_ext &table = table_of(device);
    std::vector<std::string> names;
    for (uint32_t i = 0; i < table.kernel_count; ++i) {
        hbf_string name{};
        ErrorBuffer error;
        must(error.call(table.name(device.handle(), i, &name, error)), "name of kernel {} of {}", i, table.kernel_count);
        names.emplace_back(name.data ? name.data : "", name.data ? name.size : 0);
    }
    return names;
}

std::vector<uint32_t> kernel_tiers(const Instance &device) {
    std::vector<uint32_t> tiers = device.dma_tiers();
    std::erase_if(tiers, [&](uint32_t tier) { return !(device.tier(tier).access & HBF_ACCESS_DEVICE); });
    if (tiers.empty()) fail("launch is declared, and no tier has both device and DMA access");
    return tiers;
}

Call find_kernel(const Instance &device, std::string_view name, hbf_kernel_info &out) {
    out = {};
    out.struct_size = sizeof out;
    ErrorBuffer error;
    return error.call(table_of(device).find(device.handle(), {name.data(), name.size()}, &out, error));
}

hbf_kernel_info need_kernel(Context &context, std::string_view name) {
    const std::vector<std::string> names = kernel_names(context.device());
    if (std::find(names.begin(), names.end(), name) == names.end())
        context.not_supported(fmt::format("the device lists no kernel {}", name));
    hbf_kernel_info out{};
    must(find_kernel(context.device(), name, out), "find of the kernel {}, which is listed", name);
    return out;
}

void must_run_first(const Instance &device, hbf_queue *queue, const std::vector<hbf_command> &commands) {
    constexpr uint64_t patience_ns = 60'000'000'000;
    const uint64_t value = device.must_submit(queue, commands);
    static_cast<void>(device.wait(queue, value, patience_ns)); // whatever it says
    device.must_complete(queue, value);
}

hbf_command Launch::command() const {
    hbf_command out{};
    out.kind = HBF_COMMAND_LAUNCH;
    hbf_launch &launch = out.u.launch;
    launch.kernel = kernel_;
    launch.buffers = buffers_.data();
    launch.buffer_count = buffers_.size();
    launch.arguments = arguments_.data();
    launch.arguments_size = arguments_.size();
    std::copy(groups_.begin(), groups_.end(), launch.groups);
    std::copy(items_.begin(), items_.end(), launch.group_size);
    return out;
}

} // namespace hbf::conformance
