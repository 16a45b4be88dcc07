// SPDX-License-Identifier: Apache-2.0
// What wrong words have in common: which bit lanes, in which direction, where in a line, which page, which address bits.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hbf::integrity {

class Lanes {
public:
    static constexpr unsigned widest = 512;    // lanes: bits of a 64-byte line
    static constexpr size_t most_pages = 4096; // pages told apart; further ones are counted together

    void add(uint64_t address, uint64_t expected, uint64_t actual); // a word of 8 bytes at a logical address

    uint64_t words() const { return words_; } // wrong ones
    uint64_t bits() const { return up() + down(); }
    uint64_t up() const; // 0 -> 1
    uint64_t down() const;

    // Flips of lane i, counted modulo `width`: 8, 64, 256 or 512.
    struct Lane {
        unsigned lane = 0;
        uint64_t up = 0, down = 0;
        uint64_t all() const { return up + down; }
    };
    std::vector<Lane> lanes(unsigned width) const;
    Lane busiest(unsigned width) const;

    const std::array<uint64_t, 65> &flips_per_word() const { return flips_; } // words with i flips
    const std::array<uint64_t, 8> &words_in_line() const { return place_; }   // by 8-byte place in the 64-byte line
    // Wrong words by page of 4 KiB, 64 KiB or 2 MiB: page number and count, the fullest first.
    std::vector<std::pair<uint64_t, uint64_t>> pages(uint64_t page_size) const;
    uint64_t pages_beyond() const { return beyond_; } // wrong words in pages that were not told apart

    // The address bit whose value goes with failure, if one does: of the wrong addresses, all that differ otherwise agree in
    // it. `bytes`: addresses [0, bytes) were compared.
    struct AddressBit {
        unsigned bit = 0;
        bool value = false;
        double share = 0; // of the wrong addresses
    };
    std::optional<AddressBit> address_bit(uint64_t bytes) const;

    // "single lane 13 of 64, 1->0 only, 97 % => stuck data line"; "" for no flips.
    std::string verdict(uint64_t bytes) const;

private:
    static constexpr size_t most_addresses = 65536;
    std::array<uint64_t, widest> up_{}, down_{};
    std::array<uint64_t, 65> flips_{};
    std::array<uint64_t, 8> place_{};
    std::map<uint64_t, uint64_t> pages_; // of 4 KiB
    std::set<uint64_t> addresses_;       // the first ones, each once
    uint64_t words_ = 0, beyond_ = 0;
};

} // namespace hbf::integrity
