// SPDX-License-Identifier: Apache-2.0
// From a batch to the plugin: check every command, pin its regions, and hand it over, or keep it where something has to come
// first. Copies are here; other commands, other devices and waits are in prepare.cpp. Takes all or nothing. Once warmed it
// allocates nothing and takes no lock.
#include <algorithm>

#include <fmt/format.h>

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

bool overlap(uint64_t a, uint64_t b, uint64_t size) {
    return a < b ? b - a < size : a - b < size;
}

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
    entry.cancelled = false;
    struct Draft {
        QueueCore &queue;
        Entry *entry;
        ~Draft() {
            if (entry != nullptr) queue.release(*entry);
        }
    } draft{*this, &entry};
    if (auto done = prepare(entry, batch); !done) return tl::unexpected(done.error());

    const bool first_in_line = handed_.load(std::memory_order_acquire) == value - 1;
    if (first_in_line && !entry.program && (entry.deps.empty() || resolve_waits(entry))) {
        AbiError error;
        const hbf_status status = hand_over(entry, error.out());
        if (status != HBF_OK) return tl::unexpected(error.to_error(status, title()));
        handed_.store(value, std::memory_order_release);
    }
    draft.entry = nullptr;
    const bool held = entry.stage == Stage::held;
    entry.value.store(value, std::memory_order_release);
    submitted_.store(value, std::memory_order_release); // from here on the entry is the pump's
    if (held) (void)ProgressThread::watch(*this);       // it will move without anybody polling
    return Point{number, value};
}

// Gives the batch to the plugin. The entry's waits are resolved.
hbf_status QueueCore::hand_over(Entry &entry, hbf_error *error) noexcept {
    uint32_t commands = 0;
    if (entry.op_count != 0) commands = translate(entry.ops, entry.op_count, entry.data, abi_.get(), abi_commands_).commands;
    const hbf_batch batch{sizeof(batch), sizeof(hbf_command), abi_.get(), commands};
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
    entry.verified_by = VerifiedBy::nobody;
    entry.checked_bytes = 0;
    const auto commands = batch.commands();
    if (commands.empty()) return {}; // as release() left it: no Ops, and nothing is waited for
    entry.data.clear();
    entry.data.arguments.assign(batch.arguments().begin(), batch.arguments().end());
    entry.data.buffers.reserve(batch.buffers().size()); // so that what is pinned is never lost
    entry.data.slots.reserve(batch.buffers().size());
    uint64_t coherence = 0;
    for (size_t i = 0; i < commands.size(); ++i) {
        Op &op = entry.ops[i];
        op = Op{};
        op.kind = commands[i].kind;
        op.executor = device_.get();
        entry.op_count = static_cast<uint32_t>(i + 1); // from here on release() undoes what this one pinned
        if (auto done = prepare_command(entry, op, commands[i], batch); !done) {
            Error error = std::move(done.error());
            error.message = fmt::format("{}: command {} ({}): {}", title(), i, name_of(op.kind), error.message);
            return tl::unexpected(std::move(error));
        }
        op.coherence = coherence_commands(op, entry.data);
        coherence += op.coherence;
    }
    // More commands than the plugin's queue takes at once, with the coherence ones between: sent in pieces.
    if (coherence != 0 && uint64_t{entry.op_count} * (1 + commands_per_run) + coherence > abi_commands_)
        entry.program = true;
    return entry.program ? prepare_program(entry) : Result<>();
}

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
    op.crc_begin = static_cast<uint32_t>(entry.data.crc.size());
    entry.data.crc.resize(entry.data.crc.size() + granules_in(op.size));
    op.engine_crc = !op.staged && (op.executor->queue_info.capabilities & HBF_QUEUE_CAP_CRC32C) != 0;
    op.source_crc = !op.staged && !op.engine_crc;
    op.readback = op.integrity != Integrity::next_read;
    if (op.integrity == Integrity::kernel) {
        // Where there is no kernel, or it does not reach the bytes, they are read back: verified_by says so.
        const auto by_kernel = [](DeviceCore &device, const RegionSlot &slot) {
            return slot.tier != HBF_TIER_NONE && slot.kernel_access && device.crc_kernel() != nullptr;
        };
        op.dst_kernel = by_kernel(*op.dst_device, *op.dst);
        op.src_kernel = op.source_crc && !op.src->cpu_readable() && by_kernel(*op.src_device, *op.src);
    }
    if (op.source_crc || op.readback) entry.program = true;
    return {};
}

// Unpins and forgets; at the end of a value, or of a submit that did not come through.
void QueueCore::release(Entry &entry) noexcept {
    if (entry.op_count == 0) return;
    for (uint32_t i = 0; i < entry.op_count; ++i) {
        if (entry.ops[i].dst != nullptr) entry.ops[i].dst->unpin();
        if (entry.ops[i].src != nullptr) entry.ops[i].src->unpin();
    }
    entry.data.unpin();
    entry.op_count = 0;
    entry.deps.clear();
    entry.foreign.clear(); // may close another device
}

} // namespace hbf::fabric
