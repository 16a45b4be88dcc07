// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/stream.hpp"

#include <cstring>

#include "conformance/sim/model/parts.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::model {
namespace {

using Kind = Operation::Kind;

Engines &engines(const Stream::Parts &parts) {
    return *parts.machine.parts().engines;
}

bool is_pattern(uint32_t size) {
    return size != 0 && size <= 16 && (size & (size - 1)) == 0;
}

} // namespace

Stream::Stream(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
Stream::~Stream() = default;

int Stream::device() const noexcept {
    return parts_->device;
}
const StreamOptions &Stream::options() const noexcept {
    return parts_->options;
}
uint64_t Stream::submitted() const noexcept {
    return parts_->submitted.load(std::memory_order_acquire);
}
uint64_t Stream::completed() const noexcept {
    return parts_->completed.load(std::memory_order_acquire);
}
Outcome Stream::status() const {
    const Outcome first = parts_->status.load(std::memory_order_acquire);
    return first != Outcome::ok ? first : parts_->machine.device(parts_->device).status();
}
Outcome Stream::take_error() {
    const Outcome first = parts_->status.exchange(Outcome::ok);
    return first != Outcome::ok ? first : parts_->machine.device(parts_->device).status();
}

uint64_t Stream::submit(Operation &&operation) {
    return submit(std::span(&operation, 1));
}

uint64_t Stream::submit(std::span<Operation> operations) {
    return engines(*parts_).submit(parts_, operations);
}

Outcome Stream::copy(uint64_t dst, uint64_t src, uint64_t size) {
    const CopyRange range{dst, src, size};
    return copy_batch({&range, 1}, false);
}

Outcome Stream::copy_batch(std::span<const CopyRange> copies, bool together) {
    Machine &machine = parts_->machine;
    Device &device = machine.device(parts_->device);
    if (device.status() != Outcome::ok) return device.status();
    const Agent agent{parts_->device, Agent::Kind::copy_engine};
    const Pageable pageable = device.contract().pageable;
    bool waits = false;
    // Kept by the thread, so that a warm submit allocates nothing.
    thread_local std::vector<Operation> batch;
    batch.clear();
    for (const CopyRange &range : copies) {
        if (range.size == 0) continue;
        bool dst_pageable = false, src_pageable = false;
        if (machine.timing() != Timing::free) {
            Outcome outcome = machine.memory().check(agent, range.dst, range.size, &dst_pageable);
            if (outcome == Outcome::ok) outcome = machine.memory().check(agent, range.src, range.size, &src_pageable);
            if (outcome != Outcome::ok) return outcome;
        }
        Operation &operation = batch.emplace_back(Operation::copy(range.dst, range.src, range.size));
        operation.together = together && batch.size() > 1;
        if (src_pageable && pageable == Pageable::staged) {
            operation.staged = std::make_unique_for_overwrite<std::byte[]>(range.size);
            // NOLINTNEXTLINE(performance-no-int-to-ptr)
            std::memcpy(operation.staged.get(), reinterpret_cast<const void *>(range.src), range.size);
        }
        waits |= (dst_pageable && pageable == Pageable::staged) ||
                 ((dst_pageable || src_pageable) && pageable == Pageable::synchronous);
    }
    if (batch.size() > 1 && machine.faults().fires(Fault::batch_last, parts_->device)) batch.pop_back();
    if (batch.empty()) return Outcome::ok;
    const uint64_t number = submit(std::span(batch));
    batch.clear();
    if (number == 0) return device.status();
    if (!waits) return Outcome::ok;
    engines(*parts_).wait(*parts_, number, forever);
    return status();
}

Outcome Stream::fill(uint64_t dst, const void *pattern, uint32_t pattern_size, uint64_t size) {
    Machine &machine = parts_->machine;
    const Device &device = machine.device(parts_->device);
    if (device.status() != Outcome::ok) return device.status();
    if (!is_pattern(pattern_size) || size % pattern_size != 0) return Outcome::invalid;
    if (size == 0) return Outcome::ok;
    bool pageable = false;
    const Outcome outcome = machine.memory().check({parts_->device, Agent::Kind::copy_engine}, dst, size, &pageable);
    if (outcome != Outcome::ok) return outcome;
    if (pageable && !device.profile().pageable_access) return Outcome::unknown_address;
    Operation operation;
    operation.kind = Kind::fill;
    operation.dst = dst;
    operation.size = size;
    operation.pattern_size = static_cast<uint8_t>(pattern_size);
    std::memcpy(operation.pattern.data(), pattern, pattern_size);
    return submit(std::move(operation)) ? Outcome::ok : device.status();
}

Outcome Stream::launch(std::unique_ptr<Launch> launch) {
    const Device &device = parts_->machine.device(parts_->device);
    if (device.status() != Outcome::ok) return device.status();
    if (parts_->options.copies_only) return Outcome::unsupported;
    const auto product = [](const uint32_t(&of)[3]) { return uint64_t{of[0]} * of[1] * of[2]; };
    if (!launch || !launch->kernel || product(launch->groups) == 0 || product(launch->group_size) == 0)
        return Outcome::invalid;
    if (product(launch->group_size) > device.profile().max_group_size) return Outcome::invalid;
    if (launch->kernel->buffer_count > Launch::most_buffers || launch->kernel->arguments_size > Launch::most_arguments)
        return Outcome::unsupported;
    Operation operation;
    operation.kind = Kind::launch;
    operation.launch = std::move(launch);
    return submit(std::move(operation)) ? Outcome::ok : device.status();
}

Outcome Stream::host_function(void (*function)(void *), void *argument) {
    if (!function) return Outcome::invalid;
    Operation operation;
    operation.kind = Kind::host_function;
    operation.function = function;
    operation.argument = argument;
    return submit(std::move(operation)) ? Outcome::ok : parts_->machine.device(parts_->device).status();
}

Outcome Stream::record(Event &event) {
    if (event.kind() != EventKind::mark) return Outcome::invalid;
    Operation operation;
    operation.kind = Kind::record;
    operation.event = &event;
    return submit(std::move(operation)) ? Outcome::ok : parts_->machine.device(parts_->device).status();
}

Outcome Stream::wait(Event &event) {
    Operation operation;
    operation.kind = event.kind() == EventKind::mark ? Kind::wait_event : Kind::wait_signal;
    operation.event = &event;
    return submit(std::move(operation)) ? Outcome::ok : parts_->machine.device(parts_->device).status();
}

Outcome Stream::query() {
    engines(*parts_).look();
    if (completed() < submitted() && !parts_->machine.faults().fires(Fault::query_lies, parts_->device))
        return Outcome::pending;
    return status();
}

Outcome Stream::synchronize(uint64_t timeout_ns) {
    const uint64_t number = submitted();
    if (completed() < number && !parts_->machine.faults().fires(Fault::sync_early, parts_->device) &&
        !engines(*parts_).wait(*parts_, number, timeout_ns))
        return Outcome::pending;
    return status();
}

} // namespace hbf::model
