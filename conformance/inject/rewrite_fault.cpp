// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/rewrite_fault.hpp"

#include "conformance/inject/launch.hpp"

namespace hbf::inject {

hbf_status RewriteFault::submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
    if (!readable(queue, batch)) return below_->submit(queue, batch, out_value, e);
    std::vector<hbf_command> commands;
    copy_commands(*batch, commands);
    OwnedLaunches launches;
    launches.own_all(commands);
    if (!rewrite(commands)) return below_->submit(queue, batch, out_value, e);
    const hbf_batch changed = batch_of(commands);
    return below_->submit(queue, &changed, out_value, e);
}

bool CommandFault::rewrite(std::vector<hbf_command> &commands) {
    bool changed = false;
    for (hbf_command &command : commands) {
        if (!eligible(command) || !fires()) continue;
        change(command);
        changed = true;
    }
    return changed;
}

} // namespace hbf::inject
