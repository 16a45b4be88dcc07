// SPDX-License-Identifier: Apache-2.0
// One device in use: its context, and the events of all its queues.
#pragma once

#include <initializer_list>

#include "plugins/level_zero/discovery.hpp"
#include "plugins/level_zero/queue/shots.hpp"

namespace hbf::level_zero {

struct OwnedContext {
    const Functions &ze;
    ze::Context handle = nullptr;

    OwnedContext(const Functions &functions, ze::Driver driver);
    ~OwnedContext();
    OwnedContext(const OwnedContext &) = delete;
    OwnedContext &operator=(const OwnedContext &) = delete;
};

struct Context {
    const Functions &ze;
    const ze::Driver driver;
    const ze::Device device;
    const DeviceFacts facts;
    OwnedContext context;
    ShotStore shots; // ends first

    Context(const Functions &functions, const Opened &opened);

    // An immediate command list of a group of queues; for one thread at a time.
    ze::List make_list(uint32_t group, std::string_view what) const;
    void try_out(); // throws where a driver has no list, barrier or event that works: before anybody relies on it
    // Both are done when they return, and throw; `runs`, false before, says whether the device may use the memory yet.
    void zero(void *at, uint64_t size, bool &runs); // a multiple of 8
    // From place to place, one copy after the other, by an engine of that group.
    void carry(uint32_t group, std::initializer_list<void *> places, uint64_t size, bool &runs);

private:
    template <class Append>
    void aside(uint32_t group, std::string_view what, uint64_t bytes, bool &runs, const Append &append);
};

} // namespace hbf::level_zero
