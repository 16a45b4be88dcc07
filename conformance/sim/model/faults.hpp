// SPDX-License-Identifier: Apache-2.0
// What is wrong with the machine, by name: HBF_EMULATE_FAULTS="flip:p=0.1,device=0;oom:after=3". The table of all of them is
// fault_table.inc, a line each: those that the model does itself, and those that an emulated runtime asks for, such as a
// misreading of its vendor's contract. A new one: add its line there, then where it acts
//
//     if (machine().faults().fires(Fault::notifier_hides_failure, device)) ...
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/sim/model/export.hpp"
#include "hbf/status.hpp"

namespace hbf::model {

enum class Fault : uint32_t {
#define HBF_MODEL_FAULT(id, name, where, line) id,
#include "conformance/sim/model/fault_table.inc"
#undef HBF_MODEL_FAULT
};

struct FaultInfo {
    std::string_view name;  // "drop-tail"
    std::string_view where; // "model" or the emulated runtime that acts on it: "nvidia"
    std::string_view line;  // for people; begins with the event that counts: "a copy: its last bytes stay behind"
};
HBF_MODEL_API const std::vector<FaultInfo> &all_faults(); // in the order of Fault

// One of the faults asked for. An event counts only on a device that it is about; then `after` events pass, and of the
// following every rate-th is hit, with probability `p`, `count` times at most.
struct FaultSetting {
    Fault fault{};
    double p = 1;       // of those that would be hit
    uint64_t after = 0; // events that pass first
    uint64_t rate = 1;  // every how many-th
    uint64_t count = 0; // at most; 0: no end
    int device = -1;    // index in the machine; -1: all
    uint64_t value = 0; // what the fault's line says: a bit, milliseconds, a factor; 0: its own choice
};

// "NAME[:key=value,...][;NAME2...]"; '_' does for '-'. INVALID naming what is wrong and the nearest that is known.
HBF_MODEL_API Result<std::vector<FaultSetting>> parse_faults(std::string_view text);
// Every name with its line of the table, for people.
HBF_MODEL_API std::string faults_help();

class HBF_MODEL_API Faults {
public:
    Faults(std::vector<FaultSetting> settings, uint64_t seed);

    bool any() const noexcept { return !settings_.empty(); }
    // [any-thread] An event of this fault happens on `device` (-1: on the host): whether it is hit. False at the cost of one
    // look if no fault was asked for.
    bool fires(Fault fault, int device) noexcept { return any() && roll(fault, device); }
    // Whether it was asked for, on this device or all: for what is a state, not an event. Nothing is counted.
    bool on(Fault fault, int device) const noexcept;
    uint64_t value(Fault fault, uint64_t otherwise) const noexcept;
    uint64_t hits(Fault fault) const noexcept; // how often it acted
    uint64_t dice(uint64_t below) noexcept;    // a seeded choice, for where exactly it acts; below > 0

private:
    struct Live {
        explicit Live(const FaultSetting &from) : setting(from) {}
        FaultSetting setting;
        std::atomic<uint64_t> seen{0}, hit{0};
    };
    bool roll(Fault fault, int device) noexcept;

    std::vector<std::unique_ptr<Live>> settings_;
    std::atomic<uint64_t> state_;
};

} // namespace hbf::model
