// SPDX-License-Identifier: Apache-2.0
// All memory that submitting will need is taken here.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/fabric/program.hpp"
#include "core/fabric/progress_thread.hpp"
#include "core/fabric/queue_core.hpp"

namespace hbf::fabric {
namespace {

constexpr uint32_t default_depth = 64, default_commands = 1024; // where the caller leaves it to us

Result<uint32_t> within(uint32_t wanted, uint32_t limit, uint32_t otherwise, const char *what, const DeviceCore &device) {
    if (wanted > limit)
        return fail(Code::invalid, fmt::format("{}: a queue with {} {} is wanted, the device's limit is {}", device.label(),
                                               wanted, what, limit));
    return wanted != 0 ? wanted : std::min(limit, otherwise);
}

} // namespace

std::string QueueCore::title() const {
    return fmt::format("queue {} of {}", number, device_->label());
}

Result<std::shared_ptr<QueueCore>> QueueCore::create(const std::shared_ptr<DeviceCore> &device,
                                                     const QueueOptions &options) {
    const hbf_queue_info &limits = device->queue_info;
    const auto depth = within(options.depth, limits.max_depth, default_depth, "values in flight", *device);
    if (!depth) return tl::unexpected(depth.error());
    const auto commands = within(options.commands, limits.max_commands, default_commands, "commands in a batch", *device);
    if (!commands) return tl::unexpected(commands.error());

    std::shared_ptr<QueueCore> core(new QueueCore);
    core->device_ = device;
    core->depth_ = *depth;
    core->commands_ = *commands;
    // Explicit coherence takes several commands for one of the caller's.
    core->abi_commands_ = device->has_software_domain
                              ? static_cast<uint32_t>(std::min<uint64_t>(
                                    limits.max_commands, uint64_t{*commands} * commands_per_op + commands_per_run))
                              : *commands;
    const uint64_t slots = std::bit_ceil(uint64_t{*depth});
    core->mask_ = slots - 1;
    core->history_mask_ = std::max<uint64_t>(256, slots * 4) - 1;
    core->entries_ = std::make_unique<Entry[]>(slots);
    core->ops_.reset(new Op[slots * *commands]); // not touched: no page of it exists before it is used
    core->abi_.reset(new hbf_command[core->abi_commands_]);
    core->history_ = std::make_unique<Record[]>(core->history_mask_ + 1);
    for (uint64_t i = 0; i < slots; ++i) {
        Entry &entry = core->entries_[i];
        entry.ops = &core->ops_[i * *commands];
        entry.data.crc.reserve(*commands);
        entry.deps.reserve(8);
        entry.data.waits.reserve(8);
        entry.foreign.reserve(2);
    }

    const hbf_queue_desc desc{sizeof(desc), *depth, core->abi_commands_, 0};
    AbiError error;
    const hbf_status status = device->queue_ext->create(device->instance, &desc, &core->queue_, error.out());
    if (status != HBF_OK) {
        core->queue_ = nullptr;
        return tl::unexpected(error.to_error(status, fmt::format("{}: creating a queue", device->label())));
    }
    if (core->queue_ == nullptr)
        return fail(Code::internal, fmt::format("{}: create reports success without a queue", device->label()));

    const auto entry = queue_table().add();
    core->number = entry.number;
    core->table_entry_ = entry.entry;
    entry.entry->core = core;
    entry.entry->published.store(true, std::memory_order_release);
    return core;
}

void QueueCore::close() noexcept {
    unsigned round = 0;
    while (completed_.load(std::memory_order_acquire) < submitted_.load(std::memory_order_acquire)) {
        if (!pump()) block(submitted_.load(std::memory_order_acquire), 1'000'000, round);
    }
    // Callbacks run before the queue is gone, so that what they refer to need only outlive the queue.
    while (callback_count_.load(std::memory_order_acquire) != 0 && !ProgressThread::on_it()) {
        ProgressThread::wake();
        block(0, 1'000'000, round);
    }
    ProgressThread::leave(*this);
    // What waiters on other queues may still ask.
    std::lock_guard lock(failure_mutex_);
    if (table_entry_ == nullptr || table_entry_->closed.load(std::memory_order_relaxed)) return;
    table_entry_->last = submitted_.load(std::memory_order_relaxed);
    table_entry_->failed = failed_.load(std::memory_order_relaxed);
    table_entry_->failed_code = failed_code_.load(std::memory_order_relaxed);
    table_entry_->cancelled.swap(cancelled_);
    table_entry_->closed.store(true, std::memory_order_release);
}

QueueCore::~QueueCore() {
    delete program_.load(std::memory_order_relaxed);
    if (queue_ == nullptr) return;
    AbiError error;
    device_->queue_ext->destroy(queue_, error.out());
}

std::string QueueCore::staging() const {
    const Program *program = program_.load(std::memory_order_acquire);
    return program == nullptr ? std::string() : program->staging();
}

} // namespace hbf::fabric
