// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/launch.hpp"

namespace hbf::inject {

bool harmless(const Device &device, const hbf_launch &launch) {
    const auto kernel = device.kernels().find(launch.kernel);
    if (!kernel || !readable(launch) || launch.buffer_count != kernel->buffer_count ||
        launch.arguments_size != kernel->arguments_size)
        return false;
    uint64_t items = 1;
    for (int i = 0; i < 3; ++i) {
        if (launch.groups[i] == 0 || launch.group_size[i] == 0) return false;
        items *= launch.group_size[i];
        if (items > kernel->max_group_size) return false;
    }
    for (uint64_t i = 0; i < launch.buffer_count; ++i) {
        const hbf_kernel_buffer &buffer = launch.buffers[i];
        const auto region = device.regions().find(buffer.region);
        const bool inside = region && buffer.size > 0 && buffer.offset <= region->size &&
                            buffer.size <= region->size - buffer.offset && buffer.offset % 8 == 0;
        const bool reached =
            region && region->tier < device.tiers().size() && (device.tiers()[region->tier].access & HBF_ACCESS_DEVICE);
        if (!inside || !reached || buffer.access == 0 || buffer.access > (HBF_KERNEL_READS | HBF_KERNEL_WRITES))
            return false;
    }
    return true;
}

} // namespace hbf::inject
