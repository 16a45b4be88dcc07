// SPDX-License-Identifier: Apache-2.0
// What a run compared and what it found wrong: every error counted, the first thousand kept in full.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/integrity/lanes.hpp"
#include "conformance/integrity/origin.hpp"
#include "conformance/suite/verdict.hpp"

namespace hbf::integrity {

// What three more reads of the same place gave: where the fault lies.
enum class Reread {
    same,      // the same wrong value: stored wrong, or written wrong
    right,     // the right value: the first read was wrong
    different, // a third thing: intermittent
};
std::string_view to_string(Reread reread); // "the same wrong value: stored or transferred wrong"
Reread judge_rereads(uint64_t expected, uint64_t first, const std::array<uint64_t, 3> &again);

struct ErrorRecord {
    Datum datum;
    std::string from, to;     // tiers of the transfer
    std::string agent;        // who read the wrong value: "cpu 1", "dma"
    uint64_t region = 0;      // handle of the destination
    uint64_t offset = 0;      // bytes in it, of the 8-byte word
    uint64_t cpu_address = 0; // 0 where there is none
    uint64_t expected = 0, actual = 0;
    std::array<uint64_t, 3> again{};
    Reread reread = Reread::same;
    bool source_right = true;   // the source held what it must when it was looked at afterwards
    std::optional<bool> repeat; // right after the same bytes were transferred once more
    Origin origin;
    double at_s = 0;                     // since the run began
    std::optional<uint64_t> temperature; // degrees Celsius, where the device tells
};
std::string to_string(const ErrorRecord &record);
conformance::Evidence evidence_of(const ErrorRecord &record); // wrong_bytes counts this word's

uint64_t wrong_bytes_in(uint64_t expected, uint64_t actual); // of a word

// Of one pair of tiers.
struct PairTally {
    std::string from, to;
    uint64_t region_bytes = 0; // of each side
    uint64_t capacity = 0;     // of the destination's tier
    uint64_t bytes = 0;        // compared, each time counted
    uint64_t reached = 0;      // bytes of the region compared at least once
    uint64_t wrong_words = 0;
    double seconds = 0;
    bool emulated = false;
    std::string verified_by = "host"; // or "kernel": of the destination's device
    double coverage() const { return capacity ? static_cast<double>(reached) / static_cast<double>(capacity) : 0; }
};

class Tally {
public:
    static constexpr size_t most_records = 1000;

    std::deque<PairTally> pairs; // stay where they are: routes hold on to theirs
    Lanes lanes;
    std::vector<ErrorRecord> records;
    uint64_t incidents = 0; // runs of neighbouring wrong words in a transfer: what the bound counts as one event
    uint64_t wrong_bytes = 0;
    uint64_t crc_checked = 0, crc_wrong = 0; // pieces whose checksum by the engine was looked at
    std::map<std::string, uint64_t> classes; // wrong words whose origin was looked for, by fault class
    std::array<uint64_t, 3> rereads{};       // records by Reread
    // What the device's kernels counted, before the host looked for itself: by place in the 8-byte word.
    uint64_t kernel_wrong_words = 0;
    std::array<uint64_t, 64> kernel_up{}, kernel_down{};
    std::map<int64_t, uint64_t> distances; // misplaced: where it was found less where it belongs

    void add_bits(double bits) { bits_ += bits; }
    double bits_compared() const { return bits_; }
    uint64_t wrong_words() const { return lanes.words(); }
    uint64_t wrong_bits() const { return lanes.bits(); }
    bool room() const { return records.size() < most_records; }
    void add(const ErrorRecord &record); // a kept one

    // One line: the likeliest fault of all that was seen; "" if nothing was wrong.
    std::string verdict() const;
    bool stuck_lane() const; // nine tenths of the flips are in one lane, three at least

private:
    double bits_ = 0;
};

} // namespace hbf::integrity
