// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/data_fault.hpp"

namespace hbf::inject {

hbf_status DataFault::submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
    std::vector<Hit> hits;
    if (readable(queue, batch))
        for (uint64_t i = 0; i < batch->command_count; ++i)
            if (const hbf_command &command = command_at(*batch, i); picks(command))
                hits.push_back({command, destination(command), {}});
    if (hits.empty()) return below_->submit(queue, batch, out_value, e);

    for (Hit &hit : hits) look_before(hit);
    const hbf_status status = below_->submit(queue, batch, out_value, e);
    if (status != HBF_OK || !out_value || below_->wait(queue, *out_value, UINT64_MAX, nullptr) != HBF_OK) return status;
    hbf_progress progress{};
    progress.struct_size = sizeof progress;
    const bool failed = below_->poll(queue, &progress) != HBF_OK || (progress.failed != 0 && progress.failed <= *out_value);
    for (const Hit &hit : hits)
        if (!failed) change(hit);
    return status;
}

} // namespace hbf::inject
