// SPDX-License-Identifier: Apache-2.0
// The test data: twelve patterns with ids that never change meaning, each a function of seed, generation and logical
// address, so that nothing is stored to compare with and any byte can be judged wherever it turns up.
//
// p0 is the base of everything: words that tell where and when they belong. The others stress what p0 does not: all lines of
// a bus at once, single lanes, neighbours, idle time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/host/pattern.hpp"

namespace hbf::integrity {

enum class Pattern : uint8_t {
    address_hash,      // p0
    solid,             // p1
    checkerboard,      // p2
    walking,           // p3
    moving_inversions, // p4
    own_address,       // p5
    modulo_20,         // p6
    random,            // p7
    block_move,        // p8
    switching,         // p9
    bit_fade,          // p10
    witness,           // p11
};

struct PatternInfo {
    Pattern pattern;
    std::string_view id;   // "p0"
    std::string_view name; // "address_hash"
    std::string_view what; // one line
    uint32_t passes;       // each with data of its own; all of them make one iteration
};
std::span<const PatternInfo> patterns();
const PatternInfo &info_of(Pattern pattern);
std::optional<Pattern> pattern_from(std::string_view text); // "p3" or "walking"

// What a place must hold.
struct Datum {
    Pattern pattern = Pattern::address_hash;
    uint32_t pass = 0;       // < PatternInfo::passes
    uint32_t seed = 0;       // of the run and buffer
    uint32_t generation = 0; // of this write: later data never equals earlier data of the same place (p0)

    bool hashed() const;             // words that tell where they belong
    kernels::PatternKey key() const; // of hashed data
    Datum earlier() const { return {pattern, pass, seed, generation - 1}; }
};

constexpr uint64_t word_size = 8;  // bytes compared and reported as one
constexpr uint64_t line_size = 64; // bytes: the full width of a burst, and the unit of modulo-20
constexpr uint64_t modulo = 20;

uint64_t word_of(const Datum &datum, uint64_t address); // address: logical byte offset, multiple of 8

// Bytes [address, address + size) of the datum; any address and size. [pure]
void generate(const Datum &datum, void *dst, uint64_t size, uint64_t address);

struct WrongWord {
    uint64_t address = 0;              // of the word, multiple of 8
    uint64_t expected = 0, actual = 0; // bytes of the word that lie outside the compared range are equal
};
using Sink = std::function<void(const WrongWord &)>;

// Compares bit for bit and gives each wrong word to `sink`, in order. Returns how many there are. [pure]
uint64_t compare(const Datum &datum, const void *src, uint64_t size, uint64_t address, const Sink &sink);

// Modulo-20 judges every twentieth line only: the rest is there to disturb. True for all other patterns.
bool judged(const Datum &datum, uint64_t address);

// CRC-32C of [address, address + size) as it must be, seeded with the granule's id, generation and length, so that the right
// bytes of another granule or generation differ too.
uint32_t granule_crc(const void *bytes, uint64_t size, uint64_t granule, uint32_t generation);

} // namespace hbf::integrity
