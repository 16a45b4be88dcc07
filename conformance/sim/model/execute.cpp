// SPDX-License-Identifier: Apache-2.0
// One operation, and how long it takes.
#include <algorithm>
#include <chrono>
#include <thread>

#include "conformance/sim/model/block.hpp"
#include "conformance/sim/model/engines.hpp"
#include "conformance/sim/model/parts.hpp"

namespace hbf::model {
namespace {

using Kind = Operation::Kind;
thread_local int host_functions = 0;

bool moves(const Operation &operation) {
    return operation.kind == Kind::copy || operation.kind == Kind::fill || operation.kind == Kind::launch;
}

LinkState link_of(Machine &machine, int device, const Operation &operation) {
    const auto home = [&](uint64_t address) {
        const auto block = machine.memory().parts().holding(address);
        return block ? block->device : on_host;
    };
    const int to = home(operation.dst), from = operation.staged ? on_host : home(operation.src);
    if (to == from && to == device) return {}; // stays inside
    if (to >= 0 && from >= 0 && to != from) return machine.peer_link(to, from);
    return machine.host_link(device);
}

bool shaped(const Machine &machine) {
    return machine.timing() == Timing::links || machine.timing() == Timing::virtual_time;
}

// ns that the operation takes on this machine, whatever it took this process.
uint64_t least_ns(Machine &machine, int device, const Operation &operation, uint64_t took_ns) {
    Faults &faults = machine.faults();
    uint64_t least = 0;
    if (shaped(machine) && operation.kind == Kind::copy) {
        const LinkState link = link_of(machine, device, operation);
        if (link.profile) least = link.profile->latency_ns;
        if (link.profile && link.bandwidth)
            least += static_cast<uint64_t>(static_cast<double>(operation.size) * 1e9 / static_cast<double>(link.bandwidth));
    }
    if (!faults.any()) return least;
    least = std::max(least, took_ns);
    const auto slower = [&](Fault fault, uint64_t otherwise) {
        if (faults.on(fault, device)) least *= std::max<uint64_t>(faults.value(fault, otherwise), 1);
    };
    slower(Fault::link_slow, 4);
    if (faults.on(Fault::throttle, device)) least *= 3;
    if (!shaped(machine) && faults.on(Fault::link_narrow, device)) {
        const LinkState link = machine.host_link(device);
        least *= link.profile ? std::max(link.profile->max_width / std::max(link.width, 1u), 1u) : 4;
    }
    if (faults.fires(Fault::late_completion, device)) least += faults.value(Fault::late_completion, 20) * 1'000'000;
    return least;
}

Outcome execute_now(Machine &machine, int device, Operation &operation) {
    Memory &memory = machine.memory();
    switch (operation.kind) {
    case Kind::copy:
        return run_copy(machine, device, operation);
    case Kind::fill:
        return run_fill(machine, device, operation);
    case Kind::launch:
        return run_launch(machine, device, *operation.launch);
    case Kind::host_function: {
        const InHostFunction inside;
        const bool twice = machine.faults().fires(Fault::host_function_twice, device);
        for (int i = 0; i < (twice ? 2 : 1); ++i) operation.function(operation.argument);
        return Outcome::ok;
    }
    case Kind::write_value:
        return memory.poke(operation.dst, &operation.value, operation.size);
    case Kind::wait_value:
        return memory.check({device, Agent::Kind::copy_engine}, operation.src, operation.size);
    case Kind::free:
        return memory.parts().free_now(operation.dst);
    case Kind::write_back:
    case Kind::invalidate:
        for (const auto kind : {Agent::Kind::compute, Agent::Kind::copy_engine}) {
            const Agent agent{device, kind};
            const Outcome outcome = operation.kind == Kind::write_back
                                        ? memory.write_back(agent, operation.dst, operation.size)
                                        : memory.invalidate(agent, operation.dst, operation.size);
            if (outcome != Outcome::ok) return outcome;
        }
        return Outcome::ok;
    default:
        return Outcome::ok;
    }
}

} // namespace

InHostFunction::InHostFunction() {
    ++host_functions;
}
InHostFunction::~InHostFunction() {
    --host_functions;
}
bool in_host_function() noexcept {
    return host_functions != 0;
}

uint64_t cost_ns(Machine &machine, int device, const Operation &operation) {
    constexpr uint64_t begin_ns = 1000; // whatever moves bytes takes this long to begin
    return moves(operation) ? begin_ns + least_ns(machine, device, operation, begin_ns) : 0;
}

Outcome execute(Machine &machine, int device, Operation &operation) {
    if (machine.device(device).lost() && operation.kind != Kind::free) return Outcome::lost;
    if (!moves(operation)) return execute_now(machine, device, operation);
    Faults &faults = machine.faults();
    if (faults.fires(Fault::lost_device, device)) {
        machine.device(device).unplug();
        return Outcome::lost;
    }
    if (machine.timing() == Timing::virtual_time || (machine.timing() == Timing::none && !faults.any()))
        return execute_now(machine, device, operation);
    const uint64_t started = now_ns();
    const Outcome outcome = execute_now(machine, device, operation);
    const uint64_t until = started + least_ns(machine, device, operation, now_ns() - started);
    while (now_ns() < until && !machine.device(device).lost()) {
        constexpr uint64_t nap = 2'000'000; // ns: an unplugged device is noticed
        const uint64_t now = now_ns();
        if (now < until) std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(until - now, nap)));
    }
    return outcome;
}

} // namespace hbf::model
