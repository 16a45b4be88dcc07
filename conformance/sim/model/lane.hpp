// SPDX-License-Identifier: Apache-2.0
// A stream as the engines see it: what was put on it and is not over. All but the atomics under the engines' mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "conformance/sim/model/event.hpp"
#include "conformance/sim/model/stream.hpp"

namespace hbf::model {

class Machine;

struct Slot {
    enum class State : uint8_t { waiting, running, stuck, done };
    Operation operation;
    State state = State::waiting;
    Outcome outcome = Outcome::ok;
    uint64_t number = 0, ticket = 0; // of its stream, of the machine: tickets grow in the order of submission
    bool skip_wait = false, overtakes = false, out_of_turn = false; // by fault: of the one ahead, of all
    std::shared_ptr<Event::Parts> event;
    std::shared_ptr<Stream::Parts> waited; // the stream of a wait, and how far it has to be
    uint64_t waited_number = 0;
};

struct Stream::Parts {
    Parts(Machine &the_machine, int device_index, const StreamOptions &how)
        : machine(the_machine), device(device_index), options(how) {}

    Machine &machine;
    const int device;
    const StreamOptions options;
    bool is_default = false;
    bool closing = false;
    std::deque<std::unique_ptr<Slot>> slots; // not over, or not all ahead of them
    std::vector<std::unique_ptr<Slot>> spare;
    std::atomic<uint64_t> submitted{0}, completed{0};
    std::atomic<Outcome> status{Outcome::ok}; // the first failure

    std::unique_ptr<Slot> take_slot();
    void give_back(std::unique_ptr<Slot> slot);
};

struct Event::Parts {
    Parts(Machine &the_machine, EventKind what, uint64_t user_flags) : machine(the_machine), kind(what), flags(user_flags) {}

    Machine &machine;
    const EventKind kind;
    const uint64_t flags;
    // A mark: the last record of it.
    std::shared_ptr<Stream::Parts> stream; // nullptr: never, or already over
    uint64_t number = 0;
    bool recorded = false;
    // Both: how it is.
    Outcome outcome = Outcome::pending;
    uint64_t time_ns = 0;

    Outcome look() const; // under the engines' mutex
};

} // namespace hbf::model
