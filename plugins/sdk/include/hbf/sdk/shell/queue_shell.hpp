// SPDX-License-Identifier: Apache-2.0
// "hbf.queue/1" over an author's Queue. The submit path: a few compares, one virtual call, no allocation, no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "hbf/abi/queue.h"
#include "hbf/sdk/queue.hpp"
#include "hbf/sdk/shell/guard.hpp"
#include "hbf/sdk/shell/sized.hpp"

namespace hbf::sdk::shell {

class InstanceShell;

class QueueShell {
public:
    QueueShell(InstanceShell &instance, uint64_t commands) : owner(instance), max_commands(commands) {}

    hbf_queue *handle() noexcept { return reinterpret_cast<hbf_queue *>(this); }
    static QueueShell *of(hbf_queue *queue) noexcept { return reinterpret_cast<QueueShell *>(queue); }

    // For the destroy of the whole instance: an error here has nobody to go to, and the queue ends either way. False: for so
    // long none of its values was completed.
    bool finish(uint64_t patience_ns = UINT64_MAX) noexcept {
        const uint64_t value = last.load(std::memory_order_acquire);
        if (value == 0 || queue->idle()) return true;
        for (uint64_t done = queue->poll().completed;;) {
            bool over = true;
            (void)guard(nullptr, [&] {
                over = queue->wait(value, patience_ns);
                return HBF_OK;
            });
            const uint64_t before = std::exchange(done, queue->poll().completed);
            if (over || done >= value) return true;
            if (done == before) return false;
        }
    }
    bool returned(uint64_t value) const noexcept { return value != 0 && value <= last.load(std::memory_order_acquire); }

    InstanceShell &owner;
    const uint64_t max_commands; // 0: the author checks
    std::unique_ptr<Queue> queue;
    std::atomic<uint64_t> last{0};                   // value submit returned last
    QueueShell *previous = nullptr, *next = nullptr; // of the instance, under its lock
};

inline hbf_status queue_submit(hbf_queue *handle, const hbf_batch *batch, uint64_t *out_value, hbf_error *error) noexcept {
    if (!out_value) return refuse(error, HBF_INVALID, "submit: out_value is NULL");
    *out_value = 0;
    if (!handle) return refuse(error, HBF_INVALID, "submit: queue is NULL");
    if (!usable(batch, HBF_BATCH_MIN_SIZE))
        return refuse(error, HBF_INVALID, "submit: batch is NULL or its struct_size too small");
    if (batch->command_count != 0) {
        if (!batch->commands) return refuse(error, HBF_INVALID, "submit: commands is NULL but command_count is not 0");
        if (batch->command_stride < HBF_COMMAND_SIZE || batch->command_stride % alignof(hbf_command) != 0)
            return refuse(error, HBF_INVALID, "submit: command_stride is under 96 or not a multiple of 8");
    }
    QueueShell &shell = *QueueShell::of(handle);
    if (shell.max_commands != 0 && batch->command_count > shell.max_commands)
        return refuse(error, HBF_INVALID, "submit: more commands in the batch than the queue was made for");
    return guard(error, [&] {
        const uint64_t value = shell.queue->submit(BatchView(*batch));
        shell.last.store(value, std::memory_order_release);
        *out_value = value;
        return HBF_OK;
    });
}

inline hbf_status queue_poll(hbf_queue *handle, hbf_progress *out) noexcept {
    if (!handle || !usable(out, HBF_PROGRESS_MIN_SIZE)) return HBF_INVALID;
    const Progress progress = QueueShell::of(handle)->queue->poll();
    out->status = progress.failed != 0 ? failed_status(progress.status) : HBF_OK;
    out->completed = progress.completed;
    out->failed = progress.failed;
    return HBF_OK;
}

inline hbf_status queue_wait(hbf_queue *handle, uint64_t value, uint64_t timeout_ns, hbf_error *error) noexcept {
    if (!handle) return refuse(error, HBF_INVALID, "wait: queue is NULL");
    QueueShell &shell = *QueueShell::of(handle);
    if (!shell.returned(value)) return refuse(error, HBF_INVALID, "wait: submit has not returned this value");
    return guard(error, [&] {
        if (shell.queue->wait(value, timeout_ns)) return HBF_OK;
        return refuse(error, HBF_TIMEOUT, "the deadline passed; the work is still pending");
    });
}

inline hbf_status queue_cancel(hbf_queue *handle, uint64_t value, hbf_error *error) noexcept {
    if (!handle) return refuse(error, HBF_INVALID, "cancel: queue is NULL");
    QueueShell &shell = *QueueShell::of(handle);
    if (!shell.returned(value)) return refuse(error, HBF_INVALID, "cancel: submit has not returned this value");
    return guard(error, [&] {
        if (shell.queue->cancel(value)) return HBF_OK;
        return refuse(error, HBF_BUSY, "too late to cancel: the value runs, or ran");
    });
}

inline hbf_status queue_failure(hbf_queue *handle, hbf_error *error) noexcept {
    if (!handle) return refuse(error, HBF_INVALID, "failure: queue is NULL");
    return guard(error, [&] {
        const auto failure = QueueShell::of(handle)->queue->failure();
        if (!failure) return refuse(error, HBF_INVALID, "no value of this queue failed");
        write_error(error, failure->message, failure->region, failure->offset);
        return HBF_OK;
    });
}

} // namespace hbf::sdk::shell
