// SPDX-License-Identifier: Apache-2.0
// Checks one command and chooses its path.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/fabric/queue_core.hpp"

namespace hbf::fabric {
namespace {

bool overlap(uint64_t a, uint64_t b, uint64_t size) {
    return a < b ? b - a < size : a - b < size;
}

std::string names(const Op &op) {
    return fmt::format("{} to {}", op.src->name, op.dst->name);
}

} // namespace

// The slot, with one more command in flight; the range lies inside. `*owner` stays alive with the entry.
Result<RegionSlot *> QueueCore::pin(Entry &entry, Region region, uint64_t offset, uint64_t size, DeviceCore **owner) {
    DeviceCore *device = device_.get();
    if (region.generation == 0) return fail(Code::invalid, "no region");
    if (region.device != device->number) {
        const auto same = [&](const auto &other) { return other->number == region.device; };
        auto known = std::find_if(entry.foreign.begin(), entry.foreign.end(), same);
        if (known == entry.foreign.end()) {
            auto found = find_device(region.device);
            if (!found) return fail(Code::invalid, fmt::format("device {} is closed, or never was", region.device));
            entry.foreign.push_back(std::move(found));
            known = entry.foreign.end() - 1;
        }
        device = known->get();
    }
    if (size == 0) return fail(Code::invalid, "a size of 0 bytes");
    RegionSlot *slot = device->regions.pin(region.slot, region.generation);
    if (slot == nullptr)
        return fail(Code::invalid,
                    fmt::format("region {}.{} of {} is not there: freed?", region.slot, region.generation, device->label()));
    if (offset > slot->size || size > slot->size - offset) {
        auto error = fail(
            Code::invalid,
            fmt::format("bytes {} to {}+{} pass the end of {} ({} bytes)", offset, offset, size, slot->name, slot->size),
            offset, slot->name);
        slot->unpin();
        return error;
    }
    *owner = device;
    return slot;
}

Result<> QueueCore::prepare_command(Entry &entry, Op &op, const Command &command) {
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
        entry.waits.push_back({nullptr, 0});
        return {};
    }
    case Command::Kind::launch:
        if ((device_->queue_info.capabilities & HBF_QUEUE_CAP_LAUNCH) == 0)
            return fail(Code::unsupported, fmt::format("{} launches no kernels", device_->label()));
        op.pattern = command.kernel;
        op.arguments_begin = command.arguments_begin;
        op.arguments_size = command.arguments_size;
        std::copy(std::begin(command.groups), std::end(command.groups), op.groups);
        std::copy(std::begin(command.group_size), std::end(command.group_size), op.group_size);
        return {};
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

Result<> QueueCore::prepare_copy(Entry &entry, Op &op, const Command &command) {
    auto dst = pin(entry, command.dst, op.dst_offset, op.size, &op.dst_device);
    if (!dst) {
        dst.error().message = "destination: " + dst.error().message;
        return tl::unexpected(dst.error());
    }
    op.dst = *dst;
    auto src = pin(entry, command.src, op.src_offset, op.size, &op.src_device);
    if (!src) {
        src.error().message = "source: " + src.error().message;
        return tl::unexpected(src.error());
    }
    op.src = *src;

    const bool same_bytes = op.src == op.dst
                                ? overlap(op.dst_offset, op.src_offset, op.size)
                                : op.src->address != nullptr && op.dst->address != nullptr &&
                                      overlap(reinterpret_cast<uintptr_t>(op.dst->address) + op.dst_offset,
                                              reinterpret_cast<uintptr_t>(op.src->address) + op.src_offset, op.size);
    if (same_bytes)
        return fail(Code::invalid,
                    fmt::format("source and destination overlap: {} bytes from {} to {} in {}", op.size, op.src_offset,
                                op.dst_offset, op.dst->name),
                    op.dst_offset, op.dst->name);
    op.dst_software = op.dst->software;
    op.src_software = op.src->software;
    if (auto done = choose_path(entry, op); !done) return done;

    op.integrity = command.integrity;
    if (op.integrity == Integrity::none) return {};
    entry.integrity = true;
    if (op.dst_offset % granule_size != 0 || op.src_offset % granule_size != 0)
        return fail(Code::invalid, fmt::format("a checked copy starts on {} byte granules, not at {} and {}", granule_size,
                                               op.dst_offset, op.src_offset));
    op.dst->ensure_records().reserve(op.dst_offset, op.size); // so that retiring cannot fail
    op.crc_begin = static_cast<uint32_t>(entry.crc.size());
    entry.crc.resize(entry.crc.size() + granules_in(op.size));
    op.engine_crc = !op.staged && (op.executor->queue_info.capabilities & HBF_QUEUE_CAP_CRC32C) != 0;
    op.source_crc = !op.staged && !op.engine_crc;
    // No device kernel for it is known here: `kernel` is served by reading back, and verified_by says so.
    op.readback = op.integrity != Integrity::next_read;
    if (op.source_crc || op.readback) entry.program = true;
    return {};
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

} // namespace hbf::fabric
