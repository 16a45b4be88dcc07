// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/launch_fault.hpp"

namespace hbf::inject {

const hbf_kernel_buffer *LaunchDataFault::target(const hbf_launch &launch) const {
    for (uint64_t i = launch.buffer_count; i-- > 0;)
        if (launch.buffers[i].access & HBF_KERNEL_WRITES) return &launch.buffers[i];
    return nullptr;
}

hbf_status LaunchDataFault::submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
    std::vector<Hit> hits;
    for (uint64_t i = 0; readable(queue, batch) && i < batch->command_count; ++i) {
        const hbf_command &command = command_at(*batch, i);
        if (command.kind != HBF_COMMAND_LAUNCH || !harmless(device(), command.u.launch)) continue;
        if (const hbf_kernel_buffer *const buffer = target(command.u.launch); buffer && fires()) hits.push_back({*buffer});
    }
    if (hits.empty()) return below_->submit(queue, batch, out_value, e);

    for (Hit &hit : hits) look_before(hit);
    const hbf_status status = below_->submit(queue, batch, out_value, e);
    if (status != HBF_OK || !out_value || !completes_well(queue, *out_value)) return status;
    for (const Hit &hit : hits) change(hit);
    return status;
}

} // namespace hbf::inject
