// SPDX-License-Identifier: Apache-2.0
// The threads of all devices: each takes what may begin now on one of its device's streams, whichever the dice say.
// Copies, kernels and host functions have threads of their own, made when there is something for them to do; what only keeps
// order is done by any.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "conformance/sim/dice.hpp"
#include "conformance/sim/model/lane.hpp"

namespace hbf::model {

class Machine;

class Engines {
public:
    Engines(Machine &machine, int devices, uint64_t seed);
    ~Engines();
    Engines(const Engines &) = delete;
    Engines &operator=(const Engines &) = delete;

    void add(std::shared_ptr<Stream::Parts> lane);
    void close(Stream::Parts &lane); // it goes when it is empty
    uint64_t submit(const std::shared_ptr<Stream::Parts> &lane, std::span<Operation> operations);
    // Until the lane completed `number`, its device is lost, or time runs out.
    bool wait(Stream::Parts &lane, uint64_t number, uint64_t timeout_ns);
    Outcome wait(Event::Parts &event, uint64_t timeout_ns);
    // All streams of the device, as they are now.
    bool wait_device(int device, uint64_t timeout_ns);
    Outcome device_outcome(int device);
    void end_all(int device); // it is lost: everything pending ends so
    void set(Event::Parts &event, bool on);
    void look(); // somebody asks how far something is: with a virtual clock, that takes a microsecond of it
    uint64_t clock() const noexcept; // ns; under the mutex
    std::mutex &mutex() noexcept { return mutex_; }

private:
    using Lock = std::unique_lock<std::mutex>;
    enum class Class : uint8_t { copy, kernel, call };
    static constexpr uint32_t classes = 3;
    struct Late { // said to be over, not begun
        Operation operation;
        uint64_t due_ns = 0;
        int device = 0;
    };
    struct Crew { // of a device, for one class
        std::condition_variable work;
        uint32_t most = 1, threads = 0, idle = 0;
        uint32_t busy = 0; // engines_virtual.cpp
    };
    struct Found {
        std::shared_ptr<Stream::Parts> lane;
        Slot *slot = nullptr;
    };
    struct Flight { // begun, over at ends_ns of the virtual clock
        Found found;
        Class by = Class::copy;
        uint64_t ends_ns = 0;
    };

    Crew &crew(int device, Class each) { return *crews_[static_cast<size_t>(device)][static_cast<size_t>(each)]; }
    static bool belongs(const Operation &operation, Class to);
    void put(const std::shared_ptr<Stream::Parts> &lane, Operation &&operation);
    void put_free(const std::shared_ptr<Stream::Parts> &lane, const Operation &operation);
    static void call_free(const Operation &operation);
    void prepare(Slot &slot, const Stream::Parts &lane);
    bool in_turn(const Stream::Parts &lane, size_t index) const;
    bool ready(const Stream::Parts &lane, const Slot &slot);
    bool default_done(const Stream::Parts &lane, const Slot &slot) const;
    Outcome stopped(const Stream::Parts &lane) const;
    Found choose(int device, Class mine, bool &polls);
    bool begins(const Found &found);
    void run(Lock &lock, const Found &found);
    bool keep_order(const Stream::Parts &lane, Slot &slot, Outcome stop); // false: this kind is executed
    void run_late(Lock &lock, int device);
    void finish(const std::shared_ptr<Stream::Parts> &lane, Slot &slot, Outcome outcome);
    void settle(const std::shared_ptr<Stream::Parts> &lane);
    void hire(int device, Class each);
    void hire_for(int device, const Operation &operation);
    void work(int device, Class mine) noexcept;
    void wake(); // all
    void wake_for(const Stream::Parts &lane);
    void wake_ready();
    void call_ended(Lock &lock);
    template <class Done>
    bool wait_for(Lock &lock, uint64_t timeout_ns, Done &&done);
    template <class Done>
    bool wait_virtual(Lock &lock, uint64_t timeout_ns, Done &&done);
    void begin_all();
    void end(Lock &lock, Flight flight);
    bool step(Lock &lock, uint64_t until_ns); // to the next end, if it is not later

    Machine &machine_;
    std::mutex mutex_;
    std::condition_variable done_;
    std::vector<std::array<std::unique_ptr<Crew>, classes>> crews_;
    std::vector<std::shared_ptr<Stream::Parts>> lanes_;
    std::vector<Late> late_;
    struct Ended {
        void (*call)(void *, Outcome);
        void *argument;
        Outcome outcome;
    };
    std::vector<Ended> ended_;
    bool telling_ = false; // a thread calls what is in ended_
    sim::Dice dice_;
    uint64_t next_ticket_ = 1;
    bool ending_ = false;
    const bool virtual_time_;
    bool stepping_ = false;         // a thread executes what ends now, without the mutex
    uint64_t clock_ns_ = 1'000'000; // of virtual time; never 0
    std::vector<Flight> flights_;
    std::vector<std::thread> threads_;
};

// Does one operation, on the calling thread, whatever order says. Not for what only keeps order. With a virtual clock it
// takes no time; cost_ns says how much it takes there.
Outcome execute(Machine &machine, int device, Operation &operation);
uint64_t cost_ns(Machine &machine, int device, const Operation &operation);
Outcome run_copy(Machine &machine, int device, const Operation &operation);
Outcome run_fill(Machine &machine, int device, const Operation &operation);
Outcome run_launch(Machine &machine, int device, const Launch &launch);

// While it lives, this thread is in a host function.
class InHostFunction {
public:
    InHostFunction();
    ~InHostFunction();
    InHostFunction(const InHostFunction &) = delete;
    InHostFunction &operator=(const InHostFunction &) = delete;
};

} // namespace hbf::model
