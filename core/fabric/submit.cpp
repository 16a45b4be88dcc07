// SPDX-License-Identifier: Apache-2.0
// From a batch to the plugin: check every command, pin its regions, and hand it over, or keep it where something has to come
// first. Takes all or nothing. Once warmed it allocates nothing and takes no lock.
#include <fmt/format.h>

#include "core/fabric/program.hpp"
#include "core/fabric/progress_thread.hpp"
#include "core/fabric/queue_core.hpp"

namespace hbf::fabric {
namespace {

const char *name_of(Command::Kind kind) {
    constexpr const char *names[] = {"copy", "fill", "flush", "invalidate", "launch", "wait", "barrier"};
    return names[static_cast<unsigned>(kind)];
}

struct Flag {
    std::atomic<bool> &flag;
    ~Flag() { flag.store(false, std::memory_order_release); }
};

} // namespace

Result<Point> QueueCore::submit(const Batch &batch) {
    if (submitting_.exchange(true, std::memory_order_acquire))
        return fail(Code::busy, fmt::format("{}: another thread is in submit; one at a time", title()));
    Flag flag{submitting_};

    if (failed_.load(std::memory_order_acquire) != 0) {
        auto why = poisoned();
        if (!why) return tl::unexpected(why.error());
    }
    if (batch.commands().size() > commands_)
        return fail(Code::invalid, fmt::format("{}: a batch of {} commands, the queue was made for {}", title(),
                                               batch.commands().size(), commands_));
    const uint64_t value = submitted_.load(std::memory_order_relaxed) + 1;
    if (value - completed_.load(std::memory_order_acquire) > depth_) {
        pump();
        if (value - completed_.load(std::memory_order_acquire) > depth_)
            return fail(Code::exhausted, fmt::format("{}: {} values in flight, which is its depth", title(), depth_));
    }

    Entry &entry = entry_of(value);
    entry.value.store(0, std::memory_order_relaxed);
    entry.device_value.store(0, std::memory_order_relaxed);
    entry.claim.store(2 * value, std::memory_order_relaxed);
    struct Draft {
        QueueCore &queue;
        Entry *entry;
        ~Draft() {
            if (entry != nullptr) queue.release(*entry);
        }
    } draft{*this, &entry};
    if (auto done = prepare(entry, batch); !done) return tl::unexpected(done.error());

    const bool first_in_line = handed_.load(std::memory_order_acquire) == value - 1;
    if (first_in_line && !entry.program && resolve_waits(entry)) {
        AbiError error;
        const hbf_status status = hand_over(entry, error.out());
        if (status != HBF_OK) return tl::unexpected(error.to_error(status, title()));
        handed_.store(value, std::memory_order_release);
    }
    draft.entry = nullptr;
    entry.value.store(value, std::memory_order_release);
    submitted_.store(value, std::memory_order_release);
    if (entry.stage == Stage::held) ProgressThread::watch(*this); // it will move without anybody polling
    return Point{number, value};
}

// Gives the batch to the plugin. The entry's waits are resolved.
hbf_status QueueCore::hand_over(Entry &entry, hbf_error *error) noexcept {
    const Translated made = translate(entry.ops, entry.op_count, entry.waits.data(), entry.crc.data(),
                                      entry.arguments.data(), abi_.get(), abi_commands_);
    const hbf_batch batch{sizeof(batch), sizeof(hbf_command), abi_.get(), made.commands};
    // Short work completes inside submit, and another thread may see that before submit has returned here.
    const uint64_t expected = device_submitted_.load(std::memory_order_relaxed) + 1;
    device_announced_.store(expected, std::memory_order_release);
    uint64_t value = 0;
    const hbf_status status = device_->queue_ext->submit(queue_, &batch, &value, error);
    if (status != HBF_OK) {
        device_announced_.store(expected - 1, std::memory_order_release);
        return status;
    }
    entry.stage = Stage::running;
    entry.device_value.store(expected, std::memory_order_release);
    device_submitted_.store(expected, std::memory_order_release);
    // A plugin that counts wrongly is caught when it is looked at: what it says then matches nothing.
    if (value != expected) device_miscounts_.store(true, std::memory_order_release);
    return HBF_OK;
}

Result<> QueueCore::prepare(Entry &entry, const Batch &batch) {
    entry.stage = Stage::held;
    entry.program = entry.integrity = false;
    entry.code = Code::ok;
    entry.op_count = 0;
    entry.verified_by = VerifiedBy::nobody;
    entry.checked_bytes = 0;
    entry.crc.clear();
    entry.deps.clear();
    entry.waits.clear();
    entry.arguments.assign(batch.arguments().begin(), batch.arguments().end());

    const auto commands = batch.commands();
    uint32_t coherence = 0;
    for (size_t i = 0; i < commands.size(); ++i) {
        Op &op = entry.ops[i];
        op = Op{};
        op.kind = commands[i].kind;
        op.executor = device_.get();
        entry.op_count = static_cast<uint32_t>(i + 1); // from here on release() undoes what this one pinned
        if (auto done = prepare_command(entry, op, commands[i]); !done) {
            Error error = std::move(done.error());
            error.message = fmt::format("{}: command {} ({}): {}", title(), i, name_of(op.kind), error.message);
            return tl::unexpected(std::move(error));
        }
        coherence += op.dst_software || op.src_software;
    }
    // More commands than the plugin's queue takes at once, with the coherence ones between: sent in pieces.
    if (coherence != 0 && uint64_t{entry.op_count} * (commands_per_op + commands_per_run) > abi_commands_)
        entry.program = true;
    if (!entry.program) return {};

    if (program_.load(std::memory_order_relaxed) == nullptr) program_.store(new Program(*this), std::memory_order_release);
    Program &program = *program_.load(std::memory_order_relaxed);
    if (auto done = program.need(device_, false); !done) return done;
    for (uint32_t i = 0; i < entry.op_count; ++i) {
        const Op &op = entry.ops[i];
        const bool reads_source = op.staged || (op.source_crc && !op.src->cpu_readable());
        const bool reads_destination = op.staged || (op.readback && !op.dst->cpu_readable());
        for (const auto &[used, through_bounce] : {std::pair{op.executor, false}, std::pair{op.src_device, reads_source},
                                                   std::pair{op.dst_device, reads_destination}}) {
            if (used == nullptr || (used != op.executor && !through_bounce)) continue;
            if (used == device_.get() && !through_bounce) continue;
            if (auto done = program.need(used->shared_from_this(), through_bounce); !done) {
                if (op.staged)
                    done.error().message =
                        fmt::format("{}: no path from {} to {}: neither device reaches the other's memory, and {}", title(),
                                    op.src->name, op.dst->name, done.error().message);
                return done;
            }
        }
    }
    return {};
}

// Turns the entry's dependencies into waits for the plugin. False: one of them has to complete first, or has failed.
bool QueueCore::resolve_waits(Entry &entry) noexcept {
    for (size_t i = 0; i < entry.deps.size(); ++i) {
        const Dep &dep = entry.deps[i];
        entry.waits[i] = {nullptr, 0};
        const Outcome outcome = dep.core ? dep.core->outcome(dep.value) : dep.entry->outcome_when_closed(dep.value);
        if (outcome.state == Outcome::State::done) {
            if (outcome.code != Code::ok) return false;
            continue; // only a barrier is left of it
        }
        if (&dep.core->device() != device_.get()) return false;
        const uint64_t device_value = dep.core->device_value_of(dep.value);
        if (device_value == 0) {
            // It may have completed between the two looks.
            const Outcome again = dep.core->outcome(dep.value);
            if (again.state == Outcome::State::done && again.code == Code::ok) continue;
            return false;
        }
        entry.waits[i] = {dep.core->plugin_queue(), device_value};
    }
    return true;
}

// Unpins and forgets; at the end of a value, or of a submit that did not come through.
void QueueCore::release(Entry &entry) noexcept {
    for (uint32_t i = 0; i < entry.op_count; ++i) {
        if (entry.ops[i].dst != nullptr) entry.ops[i].dst->unpin();
        if (entry.ops[i].src != nullptr) entry.ops[i].src->unpin();
    }
    entry.op_count = 0;
    entry.deps.clear();
    entry.foreign.clear(); // may close another device
}

} // namespace hbf::fabric
