// SPDX-License-Identifier: Apache-2.0
// Timing `virtual`: a clock of the machine's own. Nothing runs by itself. Whoever waits or looks moves the clock to the end
// of the operation that ends next, and does that operation there and then; what may begin, began at the time it could.
#include <algorithm>
#include <limits>

#include "conformance/sim/model/parts.hpp"

namespace hbf::model {
namespace {

constexpr uint64_t look_ns = 1000;

} // namespace

uint64_t Engines::clock() const noexcept {
    return virtual_time_ ? clock_ns_ : now_ns();
}

// Whatever keeps order only is over as it begins, and lets others begin: until none does.
void Engines::begin_all() {
    for (bool any = true; any;) {
        any = false;
        for (int device = 0; device < machine_.device_count(); ++device) {
            for (const Class each : {Class::copy, Class::kernel, Class::call}) {
                Crew &by = crew(device, each);
                while (by.busy < by.most) {
                    bool polls = false;
                    const Found found = choose(device, each, polls);
                    if (!found.slot) break;
                    any = true;
                    if (!begins(found)) continue;
                    flights_.push_back({found, each, clock_ns_ + cost_ns(machine_, device, found.slot->operation)});
                    ++by.busy;
                }
            }
        }
    }
}

void Engines::end(Lock &lock, Flight flight) {
    const int device = flight.found.lane->device;
    stepping_ = true;
    lock.unlock();
    Outcome outcome = execute(machine_, device, flight.found.slot->operation);
    if (outcome != Outcome::lost && machine_.device(device).lost()) outcome = Outcome::lost;
    lock.lock();
    stepping_ = false;
    --crew(device, flight.by).busy;
    finish(flight.found.lane, *flight.found.slot, outcome);
}

bool Engines::step(Lock &lock, uint64_t until_ns) {
    begin_all();
    uint64_t ends = std::numeric_limits<uint64_t>::max(), alike = 0;
    size_t next = flights_.size();
    for (size_t i = 0; i < flights_.size(); ++i) {
        if (flights_[i].ends_ns < ends) alike = 0;
        if (flights_[i].ends_ns > ends || dice_.below(++alike) != 0) continue;
        ends = flights_[i].ends_ns;
        next = i;
    }
    const auto late =
        std::min_element(late_.begin(), late_.end(), [](const Late &a, const Late &b) { return a.due_ns < b.due_ns; });
    const bool is_late = late != late_.end() && late->due_ns < ends;
    if (is_late) ends = late->due_ns;
    if ((next == flights_.size() && !is_late) || ends > until_ns) {
        call_ended(lock);
        return false;
    }
    clock_ns_ = std::max(clock_ns_, ends);
    if (is_late) {
        run_late(lock, late->device);
    } else {
        const Flight flight = flights_[next];
        flights_.erase(flights_.begin() + static_cast<ptrdiff_t>(next));
        end(lock, flight);
    }
    call_ended(lock);
    return true;
}

void Engines::look() {
    if (!virtual_time_) return;
    Lock lock(mutex_);
    const uint64_t until = clock_ns_ + look_ns;
    while (!stepping_ && step(lock, until)) continue;
    clock_ns_ = std::max(clock_ns_, until);
}

} // namespace hbf::model
