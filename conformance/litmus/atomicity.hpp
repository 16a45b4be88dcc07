// SPDX-License-Identifier: Apache-2.0
// Atomicity between threads: sums that must come out right, and words that must not be seen half written. Each has its
// control, the same without the atomic access, which must go wrong often enough for the result to mean anything.
#pragma once

#include <cstdint>
#include <span>

#include "conformance/litmus/crew.hpp"

namespace hbf::litmus {

struct Tally {
    uint64_t trials = 0; // additions; loads
    uint64_t bad = 0;    // additions lost (or come from nowhere); words seen torn
    double seconds = 0;
    uint64_t expected = 0, actual = 0, address = 0; // of the first bad one

    void add(const Tally &other);
};

enum class Access : uint8_t { atomic, split };

// Every one of `agents` threads adds 1 to words of `memory`, chosen at random, until `seconds` have passed; then the words
// are summed up. split: load, a moment, store.
Tally run_adding(Threads &threads, unsigned agents, std::span<std::byte> memory, Access access, double seconds,
                 uint64_t seed);

// One thread stores words whose halves are alike, the other loads them. split: a half at a time.
Tally run_tearing(Threads &threads, std::span<std::byte> memory, Access access, double seconds, uint64_t seed);

} // namespace hbf::litmus
