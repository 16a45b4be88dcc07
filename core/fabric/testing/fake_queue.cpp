// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/testing/fake_queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/fabric/testing/fake_kernels.hpp"
#include "hbf/sdk/shell/queue_shell.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::testing {
namespace {

bool strikes(std::atomic<int> &countdown) {
    return countdown.load() > 0 && countdown.fetch_sub(1) == 1;
}

FakeQueue &behind(hbf_queue *handle) {
    return *static_cast<FakeQueueHandle &>(*sdk::shell::QueueShell::of(handle)->queue).queue;
}

} // namespace

FakeQueue::FakeQueue(Script &script, FakeRegions &regions, uint32_t depth, uint32_t commands)
    : script_(script), regions_(regions), slots_(depth) {
    for (Slot &slot : slots_) {
        slot.commands.reserve(commands);
        slot.waits.reserve(commands);
        slot.buffers.reserve(64);
        slot.arguments.reserve(1024);
    }
}

void FakeQueue::check(const hbf_command &command) {
    const auto inside = [&](hbf_region region, uint64_t offset, uint64_t size) {
        const FakeRegion *found = regions_.find(region);
        if (found == nullptr) sdk::fail(HBF_INVALID, "fake: stale region", region);
        if (size == 0 || offset > found->size || size > found->size - offset)
            sdk::fail(HBF_INVALID, "fake: bad range", region, offset);
    };
    switch (command.kind) {
    case HBF_COMMAND_COPY:
        inside(command.u.copy.dst, command.u.copy.dst_offset, command.u.copy.size);
        inside(command.u.copy.src, command.u.copy.src_offset, command.u.copy.size);
        if ((command.flags & HBF_COPY_CRC32C) != 0 && (script_.capabilities & HBF_QUEUE_CAP_CRC32C) == 0)
            sdk::fail(HBF_UNSUPPORTED, "fake: no CRC");
        return;
    case HBF_COMMAND_FILL:
        return inside(command.u.fill.dst, command.u.fill.dst_offset, command.u.fill.size);
    case HBF_COMMAND_FLUSH:
    case HBF_COMMAND_INVALIDATE:
        return inside(command.u.range.region, command.u.range.offset, command.u.range.size);
    case HBF_COMMAND_LAUNCH: {
        const hbf_launch &launch = command.u.launch;
        const FakeKernel *kernel = fake_kernel(launch.kernel);
        if (kernel == nullptr) sdk::fail(HBF_INVALID, "fake: no such kernel");
        if (launch.buffer_count != kernel->buffer_count || launch.arguments_size != kernel->arguments_size)
            sdk::fail(HBF_INVALID, "fake: not what the kernel takes");
        for (uint64_t i = 0; i < launch.buffer_count; ++i) {
            const hbf_kernel_buffer &buffer = launch.buffers[i];
            inside(buffer.region, buffer.offset, buffer.size);
            if (buffer.offset % 8 != 0 || buffer.access == 0 || regions_.find(buffer.region)->tier == cold)
                sdk::fail(HBF_INVALID, "fake: not a buffer of a kernel", buffer.region, buffer.offset);
        }
        return;
    }
    case HBF_COMMAND_WAIT:
        if (command.u.wait.queue != nullptr) {
            FakeQueue &other = behind(command.u.wait.queue);
            if (&other == this) return;
            std::lock_guard lock(other.mutex_);
            if (command.u.wait.value == 0 || command.u.wait.value > other.submitted_)
                sdk::fail(HBF_INVALID, "fake: a wait for a value that was not returned");
        }
        return;
    default:
        sdk::fail(HBF_INVALID, "fake: unknown command");
    }
}

void FakeQueue::pin(const hbf_command &command, bool on) {
    const auto one = [&](hbf_region region) { on ? (void)regions_.pin(region) : regions_.unpin(region); };
    if (command.kind == HBF_COMMAND_COPY) {
        one(command.u.copy.dst);
        one(command.u.copy.src);
    }
    if (command.kind == HBF_COMMAND_FILL) one(command.u.fill.dst);
    if (command.kind == HBF_COMMAND_LAUNCH)
        for (uint64_t i = 0; i < command.u.launch.buffer_count; ++i) one(command.u.launch.buffers[i].region);
    if (command.kind == HBF_COMMAND_FLUSH || command.kind == HBF_COMMAND_INVALIDATE) one(command.u.range.region);
}

uint64_t FakeQueue::submit(const sdk::BatchView &batch) {
    if (script_.lost) sdk::fail(HBF_DEVICE_LOST, "fake: the device is gone");
    for (uint64_t i = 0; i < batch.size(); ++i) check(batch[i]);
    std::lock_guard lock(mutex_);
    if (submitted_ - completed_.load() == slots_.size()) sdk::fail(HBF_EXHAUSTED, "fake: the queue is full");
    Slot &slot = slots_[submitted_ % slots_.size()];
    slot.commands.clear();
    slot.waits.clear();
    slot.buffers.clear();
    slot.arguments.clear();
    slot.cancelled = false;
    uint64_t buffers = 0, arguments = 0;
    for (uint64_t i = 0; i < batch.size(); ++i) {
        if (batch[i].kind != HBF_COMMAND_LAUNCH) continue;
        buffers += batch[i].u.launch.buffer_count;
        arguments += batch[i].u.launch.arguments_size;
    }
    slot.buffers.reserve(buffers); // what points into them stays where it is
    slot.arguments.reserve(arguments);
    for (uint64_t i = 0; i < batch.size(); ++i) {
        slot.commands.push_back(batch[i]);
        pin(batch[i], true);
        if (batch[i].kind == HBF_COMMAND_LAUNCH) keep(slot, slot.commands.back().u.launch);
        const bool waits = batch[i].kind == HBF_COMMAND_WAIT && batch[i].u.wait.queue != nullptr;
        slot.waits.push_back(waits ? behind(batch[i].u.wait.queue).shared_from_this() : nullptr);
    }
    ++script_.submitted;
    ++submitted_;
    const uint64_t value = submitted_;
    if (!script_.manual) run_locked(UINT64_MAX);
    return value;
}

void FakeQueue::run(uint64_t values) {
    std::lock_guard lock(mutex_);
    run_locked(values);
}

void FakeQueue::run_locked(uint64_t values) {
    while (values-- != 0 && completed_.load() < submitted_) {
        Slot &slot = slots_[completed_.load() % slots_.size()];
        const uint64_t value = completed_.load() + 1;
        if (!slot.cancelled && failed_ == 0) {
            try {
                if (script_.lost) sdk::fail(HBF_DEVICE_LOST, "fake: the device is gone");
                if (!execute(slot)) break;
            } catch (const sdk::Failure &failure) {
                failed_ = value;
                failure_ = failure;
            }
        }
        for (const hbf_command &command : slot.commands) pin(command, false);
        completed_.store(value);
    }
    changed_.notify_all();
}

bool FakeQueue::execute(Slot &slot) {
    for (size_t i = 0; i < slot.commands.size(); ++i)
        if (slot.waits[i] && slot.waits[i].get() != this && slot.waits[i]->completed_.load() < slot.commands[i].u.wait.value)
            return false;
    for (const hbf_command &one : slot.commands) command(one);
    return true;
}

void FakeQueue::command(const hbf_command &command) {
    switch (command.kind) {
    case HBF_COMMAND_COPY:
        return copy(command.u.copy, command.flags);
    case HBF_COMMAND_FILL: {
        const hbf_fill &fill = command.u.fill;
        std::byte *out = regions_.find(fill.dst)->bytes + fill.dst_offset;
        for (uint64_t i = 0; i < fill.size; ++i)
            out[i] = static_cast<std::byte>(fill.pattern >> (i % fill.pattern_size * 8));
        return;
    }
    case HBF_COMMAND_FLUSH:
    case HBF_COMMAND_INVALIDATE: {
        const hbf_range &range = command.u.range;
        const FakeRegion &region = *regions_.find(range.region);
        const bool flush = command.kind == HBF_COMMAND_FLUSH;
        ++(flush ? script_.flushes : script_.invalidates);
        if (region.cpu == nullptr || region.cpu == region.bytes) return;
        std::memcpy((flush ? region.bytes : region.cpu) + range.offset, (flush ? region.cpu : region.bytes) + range.offset,
                    range.size);
        return;
    }
    case HBF_COMMAND_LAUNCH:
        return launch(command.u.launch);
    case HBF_COMMAND_WAIT:
        ++script_.waits;
        return;
    default:
        return;
    }
}

void FakeQueue::copy(const hbf_copy &copy, uint32_t flags) {
    ++script_.copies;
    script_.copied_bytes += copy.size;
    script_.largest_copy = std::max(script_.largest_copy.load(), copy.size);
    const FakeRegion &src = *regions_.find(copy.src), &dst = *regions_.find(copy.dst);
    const std::byte *from = src.bytes + copy.src_offset;
    std::byte *to = dst.bytes + copy.dst_offset;
    if (strikes(script_.fail_copy)) sdk::fail(HBF_INTERNAL, "fake: told to fail", copy.dst, copy.dst_offset);
    if (strikes(script_.short_read)) sdk::fail(HBF_DATA_LOSS, "fake: short read", copy.src, copy.src_offset + copy.size / 2);
    if ((flags & HBF_COPY_CRC32C) != 0)
        for (uint64_t done = 0, piece = 0; done < copy.size; done += HBF_CRC_PIECE, ++piece)
            copy.crc[piece] = kernels::crc32c(from + done, std::min<uint64_t>(HBF_CRC_PIECE, copy.size - done));
    if (strikes(script_.drop_copy)) return;
    std::memcpy(to, from, copy.size);
    if (strikes(script_.flip_bit)) to[copy.size / 2] ^= std::byte{4};
}

void FakeQueue::keep(Slot &slot, hbf_launch &launch) {
    const auto *bytes = static_cast<const std::byte *>(launch.arguments);
    const hbf_kernel_buffer *buffers = launch.buffers;
    launch.arguments = slot.arguments.data() + slot.arguments.size();
    launch.buffers = slot.buffers.data() + slot.buffers.size();
    slot.arguments.insert(slot.arguments.end(), bytes, bytes + launch.arguments_size);
    slot.buffers.insert(slot.buffers.end(), buffers, buffers + launch.buffer_count);
}

void FakeQueue::launch(const hbf_launch &launch) {
    ++script_.launches;
    FakeMemory memory[8];
    for (uint64_t i = 0; i < launch.buffer_count; ++i)
        memory[i] = {regions_.find(launch.buffers[i].region)->bytes + launch.buffers[i].offset, launch.buffers[i].size};
    if (strikes(script_.fail_launch)) {
        const hbf_kernel_buffer &last = launch.buffers[launch.buffer_count - 1];
        sdk::fail(HBF_INTERNAL, "fake: the kernel stopped", last.region, last.offset);
    }
    if (strikes(script_.drop_launch)) return;
    run_fake_kernel(*fake_kernel(launch.kernel), memory, launch);
}

sdk::Progress FakeQueue::poll() noexcept {
    std::lock_guard lock(mutex_);
    if (!script_.manual || script_.lost) run_locked(UINT64_MAX);
    const uint64_t more = script_.overcount ? 1 : 0;
    return {completed_.load() + more, failed_, failure_.status};
}

bool FakeQueue::wait(uint64_t value, uint64_t timeout_ns) {
    const auto limit = std::chrono::nanoseconds(std::min<uint64_t>(timeout_ns, 3'600'000'000'000));
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::unique_lock lock(mutex_);
    for (;;) {
        if (!script_.manual || script_.lost) run_locked(UINT64_MAX);
        if (completed_.load() >= value) return true;
        // Short, because what another queue completes is not told here.
        if (std::chrono::steady_clock::now() >= deadline) return false;
        changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(std::chrono::milliseconds(1), limit));
    }
}

bool FakeQueue::cancel(uint64_t value) {
    std::lock_guard lock(mutex_);
    if (!script_.cancel_works || value <= completed_.load()) return false;
    slots_[(value - 1) % slots_.size()].cancelled = true;
    return true;
}

std::optional<sdk::Failure> FakeQueue::failure() {
    std::lock_guard lock(mutex_);
    if (failed_ == 0) return std::nullopt;
    return failure_;
}

bool FakeQueue::idle() noexcept {
    std::lock_guard lock(mutex_);
    if (!script_.manual || script_.lost) run_locked(UINT64_MAX);
    return completed_.load() == submitted_;
}

} // namespace hbf::testing
