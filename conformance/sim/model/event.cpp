// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/event.hpp"

#include "conformance/sim/model/parts.hpp"

namespace hbf::model {
namespace {

Engines &engines(const Event::Parts &parts) {
    return *parts.machine.parts().engines;
}

// The device that it was last recorded on; -1: none, or that is over.
int device_of(const Event::Parts &parts) {
    return parts.stream ? parts.stream->device : -1;
}

} // namespace

Event::Event(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
Event::~Event() = default;

EventKind Event::kind() const noexcept {
    return parts_->kind;
}
uint64_t Event::flags() const noexcept {
    return parts_->flags;
}

bool Event::recorded() const {
    const std::lock_guard lock(engines(*parts_).mutex());
    return parts_->recorded;
}

Outcome Event::query() {
    engines(*parts_).look();
    const std::lock_guard lock(engines(*parts_).mutex());
    const Outcome outcome = parts_->look();
    const bool lies = outcome == Outcome::pending && parts_->machine.faults().fires(Fault::query_lies, device_of(*parts_));
    return lies ? Outcome::ok : outcome;
}

Outcome Event::synchronize(uint64_t timeout_ns) {
    const Outcome now = query();
    if (now != Outcome::pending) return now;
    return parts_->machine.faults().fires(Fault::sync_early, -1) ? Outcome::ok : engines(*parts_).wait(*parts_, timeout_ns);
}

uint64_t Event::time_ns() const {
    const std::lock_guard lock(engines(*parts_).mutex());
    return parts_->look() == Outcome::pending ? 0 : parts_->time_ns;
}

void Event::set() {
    engines(*parts_).set(*parts_, true);
}
void Event::clear() {
    engines(*parts_).set(*parts_, false);
}

} // namespace hbf::model
