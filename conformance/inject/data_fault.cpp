// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/data_fault.hpp"

#include <algorithm>

namespace hbf::inject {

hbf_status DataFault::submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
    std::vector<Hit> hits;
    if (readable(queue, batch))
        for (uint64_t i = 0; i < batch->command_count; ++i)
            if (const hbf_command &command = command_at(*batch, i); picks(command))
                hits.push_back({command, destination(command)});
    if (hits.empty()) return below_->submit(queue, batch, out_value, e);

    for (Hit &hit : hits) look_before(hit);
    const hbf_status status = below_->submit(queue, batch, out_value, e);
    if (status != HBF_OK || !out_value || !completes_well(queue, *out_value)) return status;
    for (const Hit &hit : hits) change(hit);
    return status;
}

void DataFault::edit(const Span &where, const std::function<bool(uint64_t, std::span<std::byte>)> &edit) {
    std::vector<std::byte> piece(std::min<uint64_t>(where.size, 1 << 20));
    for (uint64_t done = 0; done < where.size; done += piece.size()) {
        const std::span<std::byte> bytes(piece.data(), std::min<uint64_t>(piece.size(), where.size - done));
        if (!device().touch().read(where.region, where.offset + done, bytes)) return;
        if (edit(where.offset + done, bytes)) device().touch().write(where.region, where.offset + done, bytes);
    }
}

void DataFault::save(Hit &hit, const Span &where) {
    hit.saved = where;
    hit.before = device().touch().read(where.region, where.offset, where.size).value_or(std::vector<std::byte>());
}

uint64_t DataFault::region_size(hbf_region region) const {
    const auto info = device().regions().find(region);
    return info ? info->size : 0;
}

} // namespace hbf::inject
