// SPDX-License-Identifier: Apache-2.0
// cnrt.h, "Queue Management", "Notifier Management", "Execution Control".
#include "conformance/emulators/cambricon/runtime/runtime.hpp"

namespace hbf::emulated::cnrt {

extern "C" {

cnrtRet_t cnrtQueueCreate(cnrtQueue_t *queue) {
    return on_device(Call::cnrtQueueCreate, [&] { return cn::cnCreateQueue(queue, 0); });
}
cnrtRet_t cnrtQueueCreateWithPriority(cnrtQueue_t *queue, unsigned int flags, int priority) {
    return on_device(Call::cnrtQueueCreateWithPriority,
                     [&] { return cn::cnCreateQueueWithPriority(queue, flags, priority); });
}
cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue) {
    return on_device(Call::cnrtQueueDestroy, [&] { return cn::cnDestroyQueue(queue); });
}

// cnrtErrorNotReady while it runs, which is the last error then, as any: torch_mlu clears it with cnrtGetLastError.
cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue) {
    return on_device(Call::cnrtQueueQuery, [&] { return cn::cnQueryQueue(queue); });
}
cnrtRet_t cnrtQueueSync(cnrtQueue_t queue) {
    return on_device(Call::cnrtQueueSync, [&] { return cn::cnQueueSync(queue); });
}

// The notifier is the first argument, where CNDrv has the queue first.
cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flag) {
    return on_device(Call::cnrtQueueWaitNotifier, [&]() -> cnrtRet_t {
        return flag > 1 ? static_cast<cnrtRet_t>(ErrorArgsInvalid) : cn::cnQueueWaitNotifier(queue, notifier);
    });
}

cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t *notifier) {
    return on_device(Call::cnrtNotifierCreate, [&] { return cn::cnCreateNotifier(notifier, 0); });
}
cnrtRet_t cnrtNotifierCreateWithFlags(cnrtNotifier_t *notifier, unsigned int flags) {
    return on_device(Call::cnrtNotifierCreateWithFlags, [&] { return cn::cnCreateNotifier(notifier, flags); });
}
cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier) {
    return on_device(Call::cnrtNotifierDestroy, [&] { return cn::cnDestroyNotifier(notifier); });
}
cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue) {
    return on_device(Call::cnrtPlaceNotifier, [&] { return cn::cnPlaceNotifier(notifier, queue); });
}
cnrtRet_t cnrtPlaceNotifierWithFlags(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flags) {
    return on_device(Call::cnrtPlaceNotifierWithFlags, [&]() -> cnrtRet_t {
        return flags > 1 ? static_cast<cnrtRet_t>(ErrorArgsInvalid) : cn::cnPlaceNotifier(notifier, queue);
    });
}
cnrtRet_t cnrtQueryNotifier(cnrtNotifier_t notifier) {
    return on_device(Call::cnrtQueryNotifier, [&] { return cn::cnQueryNotifier(notifier); });
}
cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier) {
    return on_device(Call::cnrtWaitNotifier, [&] { return cn::cnWaitNotifier(notifier); });
}

cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end, float *ms) {
    return on_device(Call::cnrtNotifierElapsedTime, [&] { return cn::cnNotifierElapsedTime(ms, start, end); });
}
// Microseconds.
cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float *us) {
    return on_device(Call::cnrtNotifierDuration, [&]() -> cnrtRet_t {
        float ms = 0;
        if (!us) return ErrorArgsInvalid;
        const cnrtRet_t no = cn::cnNotifierElapsedTime(&ms, start, end);
        if (no == Success) *us = ms * 1000;
        return no;
    });
}

cnrtRet_t cnrtInvokeHostFunc(cnrtQueue_t queue, cnrtHostFn_t function, void *data) {
    return on_device(Call::cnrtInvokeHostFunc, [&] { return cn::cnInvokeHostFunc(queue, function, data); });
}

} // extern "C"

} // namespace hbf::emulated::cnrt
