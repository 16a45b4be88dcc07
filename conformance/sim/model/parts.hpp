// SPDX-License-Identifier: Apache-2.0
// What a machine is made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conformance/sim/model/engines.hpp"
#include "conformance/sim/model/machine.hpp"

namespace hbf::model {

struct Machine::Parts {
    Parts(Profile the_profile, const Settings &settings)
        : profile(std::move(the_profile)), timing(profile.timing), faults(settings.faults, settings.seed) {}

    const Profile profile;
    std::atomic<Timing> timing;
    Faults faults;
    std::vector<std::unique_ptr<Device>> devices;
    std::unique_ptr<Memory> memory;
    std::unique_ptr<Engines> engines;

    mutable std::mutex mutex;            // of what follows
    std::set<std::pair<int, int>> peers; // enabled: from, to
    std::unordered_map<const void *, std::unique_ptr<Stream>> streams;
    std::unordered_map<const void *, std::unique_ptr<Event>> events;
    std::vector<std::unique_ptr<Stream>> default_streams;
    std::vector<std::unique_ptr<Stream>> old_streams; // an address is not used again soon: stale handles show
    std::vector<std::unique_ptr<Event>> old_events;
};

uint64_t now_ns() noexcept; // of the steady clock

} // namespace hbf::model
