// SPDX-License-Identifier: Apache-2.0
// Immediate command lists: what is appended runs at once and in any order; only barriers and events order it.
#include "conformance/emulators/level_zero/lists.hpp"

namespace hbf::emulated::l0 {
namespace {

using model::Fault;
using model::Operation;
using model::Outcome;

struct Ended {
    int device;
    model::Event *signal; // nullptr: none
};

// A command that fails is a fault of the GPU: its context is banned, no event comes, and zeDeviceGetStatus says so.
void ended(void *argument, Outcome outcome) {
    const std::unique_ptr<Ended> what(static_cast<Ended *>(argument));
    if (outcome == Outcome::ok) {
        if (what->signal) what->signal->set();
    } else {
        device_of(what->device).break_with(outcome == Outcome::pending ? Outcome::failed : outcome);
    }
}

Result put(ze::List list, Operation &&operation) {
    return list->stream->submit(std::move(operation)) != 0 ? ze::success : ze::device_lost;
}

Operation of_event(Operation::Kind kind, ze::Event event) {
    Operation out;
    out.kind = kind;
    out.event = event->flag;
    return out;
}

// What follows waits, too: more than the specification asks of commands other than barriers, and what engines do.
Result wait_first(ze::List list, uint32_t count, ze::Event *waits) {
    if (count != 0 && !waits) return ze::invalid_size;
    for (uint32_t i = 0; i < count; ++i) {
        if (!waits[i]) return ze::invalid_null_handle;
        if (const Result code = put(list, of_event(Operation::Kind::wait_signal, waits[i])); code != ze::success)
            return code;
    }
    return ze::success;
}

} // namespace

Result append(ze::List list, Operation &&operation, ze::Event signal, uint32_t count, ze::Event *waits) {
    if (const Result state = state_of(list->device); state != ze::success) return state;
    if (const Result code = wait_first(list, count, waits); code != ze::success) return code;
    auto what = std::make_unique<Ended>(Ended{list->device, signal ? signal->flag : nullptr});
    operation.ended = ended;
    operation.ended_argument = what.get();
    const Result code = put(list, std::move(operation));
    if (code == ze::success) (void)what.release();
    return code;
}

} // namespace hbf::emulated::l0

using namespace hbf::emulated::l0;
using hbf::model::Fault;
using hbf::model::Operation;

// "An immediate command list creates an implicit command queue"; of which group, its descriptor says.
HBF_ZE zeCommandListCreateImmediate(ze::Context context, ze::Device device, const ze::QueueDesc *desc, ze::List *out) {
    if (any_null(context) || !device) return ze::invalid_null_handle;
    if (!desc || !out) return ze::invalid_null_pointer;
    if (desc->mode > ze::asynchronous || desc->priority > 2 || (desc->flags & ~1u)) return ze::invalid_enumeration;
    const uint32_t queues = desc->ordinal == 0 ? 4 : device_of(device->index).profile().copy_engines;
    if (desc->ordinal > 1 || desc->index >= queues) return ze::invalid_argument;
    hbf::model::StreamOptions options;
    options.in_order = false; // ZE_COMMAND_QUEUE_FLAG_IN_ORDER came after 1.4
    options.waits_for_default = false;
    options.copies_only = desc->ordinal == 1;
    hbf::model::Stream *const stream = machine().create_stream(device->index, options);
    if (!stream) return ze::device_lost;
    *out = new ze::ListObject{stream, device->index, options.copies_only};
    return ze::success;
}

HBF_ZE zeCommandListDestroy(ze::List list) {
    if (!list) return ze::invalid_null_handle;
    machine().destroy_stream(list->stream);
    delete list;
    return ze::success;
}

// "If numWaitEvents is zero, then all previous commands must complete prior to the execution of the barrier. This is not the
// case when numWaitEvents is non-zero." "This command blocks all following commands from beginning until the execution of
// the barrier completes."
HBF_ZE zeCommandListAppendBarrier(ze::List list, ze::Event signal, uint32_t count, ze::Event *waits) {
    if (!list) return ze::invalid_null_handle;
    if (count == 0 && waits) waits = nullptr;
    hbf::model::Faults &faults = machine().faults();
    // Misreading: the barrier holds back what follows, and its event is set without regard to what is ahead.
    const bool early = count == 0 && signal && faults.fires(Fault::ze_signal_early, list->device);
    // Misreading: a barrier with events is done when they are set, and holds nothing back.
    if (count != 0 && faults.fires(Fault::ze_barrier_passes, list->device)) return ze::success;
    Operation barrier;
    barrier.kind = count == 0 && !early ? Operation::Kind::barrier : Operation::Kind::nothing;
    return append(list, std::move(barrier), signal, count, waits);
}

// "The implementation must not access the memory pointed to by dstptr and srcptr up until execution."
HBF_ZE zeCommandListAppendMemoryCopy(ze::List list, void *to, const void *from, size_t size, ze::Event signal,
                                     uint32_t count, ze::Event *waits) {
    if (!list) return ze::invalid_null_handle;
    if (any_null(static_cast<const void *>(to), from)) return ze::invalid_null_pointer;
    return append(list, Operation::copy(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), size), signal,
                  count, waits);
}

// "The pattern size must be a power-of-two and less than or equal to maxMemoryFillPatternSize."
HBF_ZE zeCommandListAppendMemoryFill(ze::List list, void *to, const void *pattern, size_t pattern_size, size_t size,
                                     ze::Event signal, uint32_t count, ze::Event *waits) {
    if (!list) return ze::invalid_null_handle;
    if (any_null(static_cast<const void *>(to), pattern)) return ze::invalid_null_pointer;
    if (pattern_size == 0 || pattern_size > 16 || (pattern_size & (pattern_size - 1)) != 0) return ze::invalid_size;
    if (size % pattern_size != 0) return ze::invalid_size; // the specification does not say what a cut pattern would be
    Operation fill;
    fill.kind = Operation::Kind::fill;
    fill.dst = reinterpret_cast<uint64_t>(to);
    fill.size = size;
    fill.pattern_size = static_cast<uint8_t>(pattern_size);
    std::memcpy(fill.pattern.data(), pattern, pattern_size);
    return append(list, std::move(fill), signal, count, waits);
}

HBF_ZE zeCommandListAppendSignalEvent(ze::List list, ze::Event event) {
    if (any_null(list) || !event) return ze::invalid_null_handle;
    Operation nothing;
    return append(list, std::move(nothing), event, 0, nullptr);
}

HBF_ZE zeCommandListAppendWaitOnEvents(ze::List list, uint32_t count, ze::Event *waits) {
    if (!list) return ze::invalid_null_handle;
    if (!waits) return ze::invalid_null_pointer;
    Operation nothing;
    return append(list, std::move(nothing), nullptr, count, waits);
}

HBF_ZE zeCommandListAppendEventReset(ze::List list, ze::Event event) {
    if (any_null(list) || !event) return ze::invalid_null_handle;
    Operation reset;
    reset.kind = Operation::Kind::reset;
    reset.event = event->flag;
    return append(list, std::move(reset), nullptr, 0, nullptr);
}
