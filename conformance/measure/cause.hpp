// SPDX-License-Identifier: Apache-2.0
// What a wrong word of the test pattern looks like: nearest match among what a faulty transfer leaves behind.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "kernels/host/pattern.hpp"

namespace hbf::measure {

struct Cause {
    enum class Kind {
        poison,    // the complement of what was due: never written
        stale,     // right place, an earlier generation
        misplaced, // data of another place, of this generation or an earlier one
        flipped,   // a few bits differ
        constant,  // all bits the same
        unknown,
    };
    Kind kind = Kind::unknown;
    uint32_t generation = 0, back = 0; // stale, misplaced: of the data found, and how many before the one that was due
    uint64_t address = 0;              // misplaced: logical address of the data found, bytes
    unsigned bits = 0, bit = 0;        // flipped: how many, and the lowest
};
std::string to_string(const Cause &cause); // "stale: data of generation 3, 2 before"

constexpr uint32_t generations_searched = 16;

// `actual` was found where the word of `key` at `offset` belongs, in a buffer of `buffer_size` bytes whose logical addresses
// start at 0. The words that follow it, if given, must agree before data is called misplaced: among 2^32 words a chance
// match is common. [pure]
Cause find_cause(const kernels::PatternKey &key, uint64_t buffer_size, uint64_t offset, uint32_t expected, uint32_t actual,
                 std::span<const uint32_t> following = {});

} // namespace hbf::measure
