// SPDX-License-Identifier: Apache-2.0
// The way from one tier to another, by the queue's own copies, with data that is judged at the far end.
//
// Order of a pass: write the source, copy, and only when all of it has been copied look at the destination, so that what is
// read comes from memory and not from a cache or a write buffer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "conformance/integrity/arena.hpp"
#include "conformance/integrity/tally.hpp"

namespace hbf::integrity {

struct Hooks {
    std::function<bool()> stop = [] { return false; };          // asked between blocks
    std::function<void(uint64_t bytes)> compared = [](auto) {}; // after each block
    std::function<double()> now = [] { return 0.0; };           // seconds since the run began
    std::function<std::optional<uint64_t>()> temperature = [] { return std::optional<uint64_t>(); };
};

// A pass that was stopped returns false. What it compared until then counts.
class Route {
public:
    // `from` gives the source region, `to` the destination; both may be the same place.
    Route(Arena &arena, const Arena::Place &from, const Arena::Place &to, Tally &tally, Hooks hooks);

    uint64_t bytes() const { return bytes_; }
    PairTally &pair() { return *pair_; }
    bool poison(uint32_t seed); // generation 0: what lies there before the first pass
    bool poisoned() const { return content_->poison.has_value(); }

    bool pass(const Datum &datum);                                       // write, copy, check
    bool march(uint32_t seed, uint32_t generation);                      // p4, uses two generations' worth of data
    bool every_twentieth(const Datum &datum);                            // p6
    bool block_move(uint32_t seed, uint32_t generation, unsigned moves); // p8: there and back again, each time elsewhere
    // p10, p11: the halves of a pass.
    bool put(const Datum &datum);
    bool look(const Datum &datum);

private:
    struct Range {
        uint64_t offset, size;
    };
    std::vector<Range> blocks(bool up = true) const;
    std::vector<Range> ranges(uint64_t each) const;
    void fill(const hbf_region_info &region, const Datum &datum, uint64_t offset, uint64_t size, uint64_t content);
    void fill(const hbf_region_info &region, const Datum &datum, Range range) {
        fill(region, datum, range.offset, range.size, range.offset);
    }
    uint64_t submit_copy(const Range &range, std::vector<uint32_t> &crc);
    void check_crc(const Datum &datum, const Range &range, const std::vector<uint32_t> &crc);
    // `content`: logical address of the bytes at `offset`. By the device's kernel where the arena says so; what it finds,
    // the host looks for.
    void check(const hbf_region_info &region, const Datum &due, uint64_t offset, uint64_t size, uint64_t content);
    uint64_t check_here(const hbf_region_info &region, const Datum &due, uint64_t offset, uint64_t size,
                        uint64_t content); // by the host, at most a block; how many words are wrong
    void kernel_alone(const hbf_region_info &region, const Datum &due, const DeviceFindings &found, uint64_t shift);
    void compared(uint64_t size);
    void locate(const hbf_region_info &region, const Datum &due, const std::vector<WrongWord> &wrong, uint64_t shift,
                const std::byte *bytes, uint64_t offset, uint64_t size);
    uint64_t load_word(const hbf_region_info &region, uint64_t offset);
    bool copy_all(const Datum &datum);

    Arena *arena_;
    const Arena::Place *from_, *to_;
    Tally *tally_;
    PairTally *pair_;
    Hooks hooks_;
    uint64_t bytes_;
    Arena::Content *content_; // of the destination
    size_t repeats_ = 0;
    std::string reader_;                       // who saw the wrong word first, when it was not the host
    static constexpr size_t most_located = 16; // words of one check that are looked into
};

} // namespace hbf::integrity
