// SPDX-License-Identifier: Apache-2.0
// One opened device as the host sees it: the author's Instance, its queues, and the tables, which live as long as it does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "hbf/abi/plugin.h"
#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "hbf/sdk/shell/guard.hpp"
#include "hbf/sdk/shell/queue_shell.hpp"
#include "hbf/sdk/shell/sized.hpp"

namespace hbf::sdk::shell {

class InstanceShell {
public:
    explicit InstanceShell(std::unique_ptr<Instance> made, const Log &log = {});
    ~InstanceShell() {
        (void)finish();
        while (queues_) delete std::exchange(queues_, queues_->next);
    }
    InstanceShell(const InstanceShell &) = delete;
    InstanceShell &operator=(const InstanceShell &) = delete;

    // What destroy does: never longer than the instance's patience after the last sign of life.
    static void end(std::unique_ptr<InstanceShell> shell) noexcept {
        if (!shell || shell->finish()) return;
        shell->log_.error(
            "the device got nothing done while destroy waited for work in flight: its instance, and the memory "
            "that this work may yet write to, stay as they are until the process ends; remedy: reset the "
            "device, and let nobody else use memory that was registered with it");
        keep(shell.release());
    }

    hbf_instance *handle() noexcept { return reinterpret_cast<hbf_instance *>(this); }
    static InstanceShell *of(hbf_instance *instance) noexcept { return reinterpret_cast<InstanceShell *>(instance); }

    QueueShell *make_queue(const QueueRequest &request) {
        if (info.max_depth != 0 && request.depth > info.max_depth)
            fail(HBF_INVALID,
                 "depth " + std::to_string(request.depth) + " is over the device's " + std::to_string(info.max_depth));
        if (info.max_commands != 0 && request.commands > info.max_commands)
            fail(HBF_INVALID, "batches of " + std::to_string(request.commands) + " commands are over the device's " +
                                  std::to_string(info.max_commands));
        auto shell = std::make_unique<QueueShell>(*this, request.commands != 0 ? request.commands : info.max_commands);
        Place place(*this);
        shell->queue = instance->create_queue(request);
        if (!shell->queue) fail(HBF_INTERNAL, "the plugin's create_queue returned no queue");
        place.keep();
        std::lock_guard lock(mutex_);
        shell->next = queues_;
        if (queues_) queues_->previous = shell.get();
        return queues_ = shell.release();
    }

    void end_queue(QueueShell *queue) noexcept {
        {
            std::lock_guard lock(mutex_);
            if (queue->next) queue->next->previous = queue->previous;
            (queue->previous ? queue->previous->next : queues_) = queue->next;
            --queue_count_;
        }
        delete queue;
    }

    std::unique_ptr<Instance> instance; // ends after the queues, which the destructor's body ends
    Coherence *coherence = nullptr;
    Kernels *kernels = nullptr;
    Health *health = nullptr;
    hbf_queue_info info{};
    hbf_tier_ext tier_table{};
    hbf_queue_ext queue_table{};
    hbf_coherence_ext coherence_table{};
    hbf_kernels_ext kernels_table{};
    hbf_health_ext health_table{};

private:
    // A queue's place among max_queues, given back unless the queue came to be.
    class Place {
    public:
        explicit Place(InstanceShell &owner) : owner_(&owner) {
            std::lock_guard lock(owner.mutex_);
            if (owner.info.max_queues != 0 && owner.queue_count_ >= owner.info.max_queues) {
                owner_ = nullptr;
                fail(HBF_EXHAUSTED, "all " + std::to_string(owner.info.max_queues) + " queues of the device are in use");
            }
            ++owner.queue_count_;
        }
        ~Place() {
            if (!owner_) return;
            std::lock_guard lock(owner_->mutex_);
            --owner_->queue_count_;
        }
        Place(const Place &) = delete;
        Place &operator=(const Place &) = delete;
        void keep() noexcept { owner_ = nullptr; }

    private:
        InstanceShell *owner_;
    };

    bool finish() noexcept { // false: the device is hung
        const uint64_t patience_ns = instance->end_patience_ns();
        for (QueueShell *queue = queues_; queue; queue = queue->next)
            if (!queue->finish(patience_ns)) return false;
        return true;
    }
    // Found by tools that look for leaks, and not one of them.
    static void keep(InstanceShell *shell) noexcept {
        static std::atomic<InstanceShell *> kept{nullptr};
        shell->kept_before_ = kept.load(std::memory_order_relaxed);
        while (!kept.compare_exchange_weak(shell->kept_before_, shell)) {
        }
    }

    const Log log_;
    InstanceShell *kept_before_ = nullptr;
    std::mutex mutex_;
    QueueShell *queues_ = nullptr;
    uint32_t queue_count_ = 0;
};

inline hbf_status queue_info(hbf_instance *handle, hbf_queue_info *out, hbf_error *error) noexcept {
    if (!handle) return refuse(error, HBF_INVALID, "queue info: instance is NULL");
    if (!usable(out, HBF_QUEUE_INFO_MIN_SIZE))
        return refuse(error, HBF_INVALID, "queue info: out is NULL or its struct_size too small");
    write(*out, InstanceShell::of(handle)->info);
    return HBF_OK;
}

inline hbf_status queue_create(hbf_instance *handle, const hbf_queue_desc *desc, hbf_queue **out,
                               hbf_error *error) noexcept {
    if (!out) return refuse(error, HBF_INVALID, "create queue: out is NULL");
    *out = nullptr;
    if (!handle) return refuse(error, HBF_INVALID, "create queue: instance is NULL");
    if (!usable(desc, HBF_QUEUE_DESC_MIN_SIZE))
        return refuse(error, HBF_INVALID, "create queue: desc is NULL or its struct_size too small");
    if (desc->flags != 0) return refuse(error, HBF_INVALID, "create queue: unknown flags");
    return guard(error, [&] {
        *out = InstanceShell::of(handle)->make_queue({desc->depth, desc->commands})->handle();
        return HBF_OK;
    });
}

inline hbf_status queue_destroy(hbf_queue *handle, hbf_error *error) noexcept {
    if (!handle) return HBF_OK;
    QueueShell *shell = QueueShell::of(handle);
    if (!shell->queue->idle()) return refuse(error, HBF_BUSY, "the queue has values in flight");
    shell->owner.end_queue(shell);
    return HBF_OK;
}

} // namespace hbf::sdk::shell
