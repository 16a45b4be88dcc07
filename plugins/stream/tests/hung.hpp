// SPDX-License-Identifier: Apache-2.0
// The end of an instance whose device has stopped doing work.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "hbf/sdk/shell/plugin_shell.hpp"
#include "plugins/stream/instance.hpp"
#include "plugins/stream/tests/seen.hpp"

namespace hbf::stream {

// Copies between its first two tiers until one does not end, then destroy as a host calls it, and what that logged; or what
// went otherwise.
inline std::string end_while_hung(std::unique_ptr<Instance> instance, Logged &logged) {
    using namespace sdk::shell;
    instance->end_patience = 100'000'000;
    sdk::AllocRequest request;
    request.size = 65536;
    const hbf_region to = instance->alloc(request).region;
    request.tier = 1;
    const hbf_region from = instance->alloc(request).region;
    auto shell = std::make_unique<InstanceShell>(std::move(instance), logged.log());
    QueueShell *const queue = shell->make_queue({});
    hbf_command command{};
    command.kind = HBF_COMMAND_COPY;
    command.u.copy = {to, 0, from, 0, 65536, nullptr};
    const hbf_batch batch{sizeof batch, sizeof command, &command, 1};
    hbf_status status = HBF_OK;
    for (int i = 0; i < 200 && status == HBF_OK; ++i) {
        uint64_t value = 0;
        if (queue_submit(queue->handle(), &batch, &value, nullptr) != HBF_OK) return "a copy was refused";
        status = queue_wait(queue->handle(), value, 200'000'000, nullptr);
    }
    if (status != HBF_TIMEOUT) return "every copy ended";
    logged.text.clear();
    InstanceShell::end(std::move(shell));
    return logged.text;
}

inline constexpr const char *hung_end = "the device got nothing done while destroy waited";

} // namespace hbf::stream
