// SPDX-License-Identifier: Apache-2.0
// The rest of checking a batch: commands other than copies, paths between devices, what Programs need, waits.
#include <optional>

#include <fmt/format.h>

#include "core/fabric/program.hpp"
#include "core/fabric/queue_core.hpp"

namespace hbf::fabric {
namespace {

std::string names(const Op &op) {
    return fmt::format("{} to {}", op.src->name, op.dst->name);
}

} // namespace

Result<> QueueCore::prepare_command(Entry &entry, Op &op, const Command &command, const Batch &batch) {
    op.integrity = Integrity::none;
    op.dst_offset = command.dst_offset;
    op.src_offset = command.src_offset;
    op.size = command.size;
    switch (command.kind) {
    case Command::Kind::barrier:
        return {};
    case Command::Kind::copy:
        return prepare_copy(entry, op, command);
    case Command::Kind::wait: {
        QueueEntry *target = queue_table().find(command.point.queue);
        if (target == nullptr) return fail(Code::invalid, fmt::format("there is no queue {}", command.point.queue));
        Dep dep{target->core.lock(), target, command.point.value};
        if (target->closed.load(std::memory_order_acquire)) dep.core.reset();
        const Outcome outcome = dep.core ? dep.core->outcome(dep.value) : target->outcome_when_closed(dep.value);
        if (outcome.state == Outcome::State::never_submitted)
            return fail(Code::invalid,
                        fmt::format("queue {} has not returned value {} yet", command.point.queue, dep.value));
        op.dep = static_cast<uint32_t>(entry.deps.size());
        entry.deps.push_back(std::move(dep));
        entry.data.waits.push_back({nullptr, 0});
        return {};
    }
    case Command::Kind::launch:
        return prepare_launch(entry, op, command, batch.buffers().subspan(command.buffers_begin, command.buffer_count));
    case Command::Kind::fill:
    case Command::Kind::flush:
    case Command::Kind::invalidate: {
        const bool fill = command.kind == Command::Kind::fill;
        const uint32_t width = command.pattern_size;
        if (fill && width != 1 && width != 2 && width != 4 && width != 8)
            return fail(Code::invalid, fmt::format("a pattern of {} bytes: it must be 1, 2, 4 or 8", width));
        auto slot = pin(entry, command.dst, op.dst_offset, op.size, &op.dst_device);
        if (!slot) return tl::unexpected(slot.error());
        op.dst = *slot;
        op.dst_handle = op.dst->handle;
        op.pattern = command.pattern;
        op.pattern_size = width;
        op.dst_software = fill && op.dst->software;
        if (op.dst_device != device_.get()) { // on that device's own engine
            op.executor = op.dst_device;
            entry.program = true;
        }
        return {};
    }
    }
    return fail(Code::invalid, "not a command");
}

// Whose engine reaches both sides: this queue's device, else the destination's, else the source's; else through buffers.
Result<> QueueCore::choose_path(Entry &entry, Op &op) {
    op.dst_handle = op.dst->handle;
    op.src_handle = op.src->handle;
    if (op.dst_device == device_.get() && op.src_device == device_.get()) return {};

    std::optional<Error> reason; // of a registration that did not come through
    for (DeviceCore *candidate : {device_.get(), op.dst_device, op.src_device}) {
        const auto reaches = [&](const RegionSlot &slot, const DeviceCore *owner) {
            return owner == candidate || (slot.cpu_readable() && candidate->can_register());
        };
        if (!reaches(*op.dst, op.dst_device) || !reaches(*op.src, op.src_device)) continue;
        const auto dst = op.dst_device == candidate ? Result<hbf_region>(op.dst->handle) : candidate->peer_handle(*op.dst);
        const auto src = op.src_device == candidate ? Result<hbf_region>(op.src->handle) : candidate->peer_handle(*op.src);
        if (!dst || !src) { // e.g. the pinning limit: another path may still do
            reason = !dst ? dst.error() : src.error();
            continue;
        }
        op.executor = candidate;
        op.dst_handle = *dst;
        op.src_handle = *src;
        if (candidate != device_.get()) entry.program = true;
        return {};
    }
    if (op.dst_device != op.src_device && op.dst_device->can_register() && op.src_device->can_register()) {
        op.staged = entry.program = true;
        return {};
    }
    return fail(Code::unsupported,
                fmt::format("no path from {}: neither device reaches the other's memory, and staging needs both "
                            "to register host memory{}",
                            names(op), reason ? ": " + reason->message : ""));
}

// What the fabric's own steps need, so that running them cannot lack it.
Result<> QueueCore::prepare_program(Entry &entry) {
    if (program_.load(std::memory_order_relaxed) == nullptr) program_.store(new Program(*this), std::memory_order_release);
    Program &program = *program_.load(std::memory_order_relaxed);
    using Use = Program::Use;
    if (auto done = program.need(device_, Use::engine); !done) return done;
    for (uint32_t i = 0; i < entry.op_count; ++i) {
        const Op &op = entry.ops[i];
        const bool source = op.staged || (op.source_crc && !op.src->cpu_readable() && !op.src_kernel);
        const bool destination = op.staged || (op.readback && !op.dst->cpu_readable() && !op.dst_kernel);
        struct {
            DeviceCore *device;
            Use use;
            bool wanted;
        } const needs[] = {{op.executor, Use::engine, op.executor != device_.get()},
                           {op.src_device, Use::bounce, source},
                           {op.dst_device, Use::bounce, destination},
                           {op.src_device, Use::checksums, op.src_kernel},
                           {op.dst_device, Use::checksums, op.dst_kernel}};
        for (const auto &[used, use, wanted] : needs) {
            if (used == nullptr || !wanted) continue;
            if (auto done = program.need(used->shared_from_this(), use); !done) {
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
        entry.data.waits[i] = {nullptr, 0};
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
        entry.data.waits[i] = {dep.core->plugin_queue(), device_value};
    }
    return true;
}

} // namespace hbf::fabric
