// SPDX-License-Identifier: Apache-2.0
// From the handle in a wait command to the author's own queue.
#pragma once

#include "hbf/abi/command.h"
#include "hbf/sdk/shell/queue_shell.hpp"

namespace hbf::sdk {

// nullptr where submit has not returned that value: refuse the batch with HBF_INVALID. Not for barriers (queue NULL).
inline Queue *waited_queue(const hbf_wait &wait) noexcept {
    shell::QueueShell *const shell = shell::QueueShell::of(wait.queue);
    return shell && shell->returned(wait.value) ? shell->queue.get() : nullptr;
}

} // namespace hbf::sdk
