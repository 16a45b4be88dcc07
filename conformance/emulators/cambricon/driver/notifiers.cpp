// SPDX-License-Identifier: Apache-2.0
// cn_api.h, "Notifier Management"; BANG C/C++ guide 6.5.12.
#include "conformance/emulators/cambricon/driver/driver.hpp"

namespace hbf::emulated::cn {
namespace {

constexpr unsigned int known_flags = 2 | 4 | 8, without_timing = 2 | 4; // CN_NOTIFIER_DISABLE_TIMING_SW, _ALL, INTERPROCESS

template <class Work>
CNresult of_notifier(Call function, CNnotifier notifier, Work &&work) noexcept {
    return in_context(function, [&](Context &) -> CNresult {
        return notifier && machine().is_event(notifier) ? work(*notifier) : INVALID_HANDLE;
    });
}

} // namespace

extern "C" {

CNresult cnCreateNotifier(CNnotifier *notifier, unsigned int flags) {
    return in_context(Call::cnCreateNotifier, [&](Context &) -> CNresult {
        if (!notifier || (flags & ~known_flags) != 0) return INVALID_VALUE;
        *notifier = machine().create_event(model::EventKind::mark, flags);
        return SUCCESS;
    });
}

// 6.5.12.1: what it recorded, and waits of queues for it, end normally.
CNresult cnDestroyNotifier(CNnotifier notifier) {
    return call(Call::cnDestroyNotifier, [&]() -> CNresult {
        if (!notifier || !machine().is_event(notifier)) return INVALID_HANDLE;
        machine().destroy_event(notifier);
        return SUCCESS;
    });
}

// 6.5.12.2: records the tasks of the queue that are not over now; only the last record counts, but for waits that were
// submitted already.
CNresult cnPlaceNotifier(CNnotifier notifier, CNqueue queue) {
    return of_notifier(Call::cnPlaceNotifier, notifier, [&](model::Event &event) -> CNresult {
        if (queue && !machine().is_stream(queue)) return INVALID_HANDLE;
        model::Stream &stream = queue ? *queue : current()->device->default_stream();
        return refusal(stream.record(event));
    });
}

// 6.5.12.2: "still returns success" if a task that it recorded failed.
CNresult cnQueryNotifier(CNnotifier notifier) {
    return of_notifier(Call::cnQueryNotifier, notifier, [](model::Event &event) { return code(event.query()); });
}
CNresult cnWaitNotifier(CNnotifier notifier) {
    return of_notifier(Call::cnWaitNotifier, notifier, [](model::Event &event) { return code(event.synchronize()); });
}

// 6.5.12.4; ends normally whatever the recorded tasks came to.
CNresult cnQueueWaitNotifier(CNqueue queue, CNnotifier notifier) {
    return of_notifier(Call::cnQueueWaitNotifier, notifier, [&](model::Event &event) -> CNresult {
        if (queue && !machine().is_stream(queue)) return INVALID_HANDLE;
        model::Stream &stream = queue ? *queue : current()->device->default_stream();
        // A misreading: a queue that is idle begins at once, as the wait is only for what it has itself.
        if (machine().faults().fires(model::Fault::cnrt_wait_of_idle_queue, stream.device()) &&
            stream.query() != model::Outcome::pending)
            return SUCCESS;
        return refusal(stream.wait(event));
    });
}

// Milliseconds; the output is the first argument, where CNRT has it last.
CNresult cnNotifierElapsedTime(float *ms, CNnotifier start, CNnotifier end) {
    return of_notifier(Call::cnNotifierElapsedTime, start, [&](model::Event &first) -> CNresult {
        if (!end || !machine().is_event(end)) return INVALID_HANDLE;
        if (!ms || ((first.flags() | end->flags()) & without_timing) != 0) return INVALID_VALUE;
        const uint64_t from = first.time_ns(), to = end->time_ns();
        if (from == 0 || to == 0) return NOT_READY;
        *ms = static_cast<float>(static_cast<double>(static_cast<int64_t>(to - from)) / 1e6);
        return SUCCESS;
    });
}

} // extern "C"

} // namespace hbf::emulated::cn
