// SPDX-License-Identifier: Apache-2.0
// Events: flags that lists and the host set, reset and wait for. They say nothing of errors: work that failed sets none.
#include "conformance/emulators/level_zero/driver.hpp"

using namespace hbf::emulated::l0;
using hbf::model::Outcome;

HBF_ZE zeEventPoolCreate(ze::Context context, const ze::PoolDesc *desc, uint32_t, ze::Device *, ze::Pool *out) {
    if (!context) return ze::invalid_null_handle;
    if (any_null(desc, static_cast<const void *>(out) ? desc : nullptr)) return ze::invalid_null_pointer;
    if (desc->count == 0) return ze::invalid_size;
    if (desc->flags & ~7u) return ze::invalid_enumeration;
    *out = new ze::PoolObject{desc->count};
    return ze::success;
}

HBF_ZE zeEventPoolDestroy(ze::Pool pool) {
    if (!pool) return ze::invalid_null_handle;
    delete pool;
    return ze::success;
}

HBF_ZE zeEventCreate(ze::Pool pool, const ze::EventDesc *desc, ze::Event *out) {
    if (!pool) return ze::invalid_null_handle;
    if (!desc || !out) return ze::invalid_null_pointer;
    if (desc->index >= pool->count) return ze::invalid_argument;
    if ((desc->signal | desc->wait) & ~7u) return ze::invalid_enumeration;
    *out = new ze::EventObject{machine().create_event(hbf::model::EventKind::flag), devices().front()->index};
    return ze::success;
}

HBF_ZE zeEventDestroy(ze::Event event) {
    if (!event) return ze::invalid_null_handle;
    machine().destroy_event(event->flag);
    delete event;
    return ze::success;
}

HBF_ZE zeEventHostSignal(ze::Event event) {
    if (!event) return ze::invalid_null_handle;
    event->flag->set();
    return ze::success;
}

HBF_ZE zeEventHostReset(ze::Event event) {
    if (!event) return ze::invalid_null_handle;
    event->flag->clear();
    return ze::success;
}

// "ZE_RESULT_NOT_READY: not signaled". A flag that failed work would have set is not set: a hang, as the host sees it.
HBF_ZE zeEventQueryStatus(ze::Event event) {
    if (!event) return ze::invalid_null_handle;
    return event->flag->query() == Outcome::ok ? ze::success : ze::not_ready;
}

// "will not return until complete or device is lost"
HBF_ZE zeEventHostSynchronize(ze::Event event, uint64_t timeout) {
    if (!event) return ze::invalid_null_handle;
    constexpr uint64_t slice = 10'000'000;
    for (uint64_t left = timeout;;) {
        const uint64_t now = std::min(left, slice);
        const Outcome outcome = now == 0 ? event->flag->query() : event->flag->synchronize(now);
        if (outcome == Outcome::ok) return ze::success;
        for (const ze::DeviceObject *const one : devices())
            if (const Result state = state_of(one->index); state != ze::success) return state;
        if (left != UINT64_MAX) left -= now;
        if (left == 0) return ze::not_ready;
    }
}
