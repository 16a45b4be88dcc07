// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/tables.hpp"

#include <algorithm>

#include "core/fabric/device_core.hpp"
#include "core/fabric/queue_table.hpp"

namespace hbf::fabric {

NumberTable<DeviceEntry> &device_table() {
    static auto *table = new NumberTable<DeviceEntry>; // reachable for ever
    return *table;
}

std::shared_ptr<DeviceCore> find_device(uint32_t number) noexcept {
    DeviceEntry *entry = device_table().find(number);
    return entry == nullptr ? nullptr : entry->core.lock();
}

NumberTable<QueueEntry> &queue_table() {
    static auto *table = new NumberTable<QueueEntry>;
    return *table;
}

Outcome QueueEntry::outcome_when_closed(uint64_t value) const noexcept {
    if (value == 0 || value > last) return {Outcome::State::never_submitted, Code::invalid};
    if (std::binary_search(cancelled.begin(), cancelled.end(), value)) return {Outcome::State::done, Code::cancelled};
    return {Outcome::State::done, failed != 0 && value >= failed ? failed_code : Code::ok};
}

} // namespace hbf::fabric
