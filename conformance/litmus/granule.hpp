// SPDX-License-Identifier: Apache-2.0
// A granule whose every line says whose it is, of which version, and where it belongs: whoever reads it knows whether it is
// of one piece. Written and read word by word with relaxed atomics, so that a reader may look at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hbf::litmus {

inline constexpr uint64_t granule_size = 65536, stamp_size = 64; // bytes

struct Stamp {
    uint64_t owner = 0, version = 0; // owner: which granule; versions count up
    auto operator<=>(const Stamp &) const = default;
};

// `granule` is a multiple of stamp_size long and aligned to 8.
void write_granule(std::span<std::byte> granule, Stamp stamp);

struct Reading {
    enum Kind : uint8_t {
        whole,   // every line of one owner and version
        mixed,   // lines of different versions or owners
        damaged, // a line that nobody wrote so: half old, poison, not its place
    };
    Kind kind = whole;
    Stamp first;                       // of the first line; {0, 0} if that is damaged
    Stamp other;                       // mixed: of the first line that differs
    uint64_t offset = 0;               // of that line, or of the damaged one, in bytes
    uint64_t wrong_lines = 0;          // that differ from the first, or are damaged
    uint64_t expected = 0, actual = 0; // damaged: the first word that does not fit its line
};
Reading read_granule(std::span<const std::byte> granule);
std::string to_string(const Reading &reading); // "whole: version 7 of 1"; "line 12 (byte 768) is of version 6, line 0 of 7"

// Word by word, in order, relaxed: what a copy without any protocol does to a reader.
void copy_words(std::span<std::byte> dst, std::span<const std::byte> src);
void fill_words(std::span<std::byte> dst, uint64_t word);

} // namespace hbf::litmus
