// SPDX-License-Identifier: Apache-2.0
// A mutant: something whole with one thing made wrong, and the cases that must find it.
//
// The catalogue lies in catalogue/, a file for each group of cases; a mutant lies with the group of its first killer. A case
// names its mutants in CaseInfo::kills, a mutant its cases in `killers`: a test holds the two to each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/suite/verdict.hpp"

namespace hbf::conformance {

enum class Base : uint8_t {
    sim,      // the simulated device, behind the wrapper plugin
    host,     // the host plugin, behind the wrapper plugin
    variant,  // a library of its own, variants/: what must be wrong before there is a call to wrap
    guard,    // hbf-case with one guard of libhbf taken out, guards/, on the simulated device
    emulated, // a vendor's plugin as it is shipped, over an emulated runtime and machine that have the fault
};

struct Mutant {
    std::string_view name; // "m02_drop_tail"
    std::string_view description;
    Base base = Base::sim;
    std::string_view fault = {};           // sim, host, variant: for inject.fault, "drop-tail,bytes=1"
                                           // emulated: the machine's, "drop-tail:value=1" (conformance/sim/model/faults.hpp)
    std::string_view given = {};           // no mutant's, but what the whole thing meets too: a fault below `fault`
    std::string_view variant = {};         // variant: hbf_plugin_VARIANT.so; guard: hbf-case-VARIANT
    std::string_view vendor = {};          // emulated: whose plugin and runtime, "nvidia"
    std::string_view machine = {};         // emulated: a profile, "a100"
    std::vector<std::string_view> killers; // names of cases, each of which must find it
    // What each of them must say. Another end, a crash where it should have seen something, is an accident and no kill.
    Status verdict = Status::fail;
    std::string_view says = {}; // what their reason must contain, too: where who uses the plugin is to read a certain cause
    // More for the plugin: {"sim.seed", "7"}. "@folder" is an empty folder made for each case that is run.
    std::vector<std::pair<std::string_view, std::string_view>> options = {};

    // A case on it mostly waits for what never comes.
    bool waits() const {
        for (const std::string_view word : {"never-completes", "hangs", "log-under-lock"})
            if (fault.find(word) != word.npos || variant.find(word) != word.npos || name.find(word) != word.npos)
                return true;
        return false;
    }
};

const std::vector<Mutant> &all_mutants(); // by group, then as written
const Mutant *find_mutant(std::string_view name);
std::string to_string(Base base, std::string_view vendor = {}); // "sim", "emulated nvidia"
inline std::string base_of(const Mutant &mutant) {
    return to_string(mutant.base, mutant.vendor);
}

} // namespace hbf::conformance
