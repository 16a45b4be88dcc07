// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a wrong word come from: never written, an earlier pass, another place, flipped bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "conformance/integrity/pattern.hpp"

namespace hbf::integrity {

struct Origin {
    std::string_view fault_class;    // of conformance::fault
    std::string text;                // "stale: data of generation 3, 1 before"
    std::optional<uint64_t> address; // misplaced: where the data belongs
    uint32_t back = 0;               // generations before the one that was due
};

struct Surroundings {
    Datum due;                     // what the place must hold
    const Datum *before = nullptr; // what it held before, nullptr unknown
    uint64_t size = 0;             // of the buffer whose logical addresses start at 0
    const Datum *poison = nullptr; // what it held before the first write of all, nullptr unknown
};

// `following`: the bytes after the wrong word, up to the end of its line; may be empty. [pure]
Origin origin_of(const Surroundings &around, const WrongWord &word, std::span<const std::byte> following);

} // namespace hbf::integrity
