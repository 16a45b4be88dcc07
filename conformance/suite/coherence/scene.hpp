// SPDX-License-Identifier: Apache-2.0
// What the coherence cases share: which tiers a protocol holds for, bytes that tell their generation, and how a violation is
// reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/measure/clock.hpp"
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance::coherence {

// Tiers with CPU and DMA access whose domain has the CPU in it and this protocol.
std::vector<uint32_t> mapped_tiers(const Instance &device, hbf_protocol protocol);
// All that are in some domain with the CPU.
std::vector<uint32_t> mapped_tiers(const Instance &device);
// Of those in hardware domains, the ones with 8-byte atomics between all of `agents` (HBF_AGENT_*).
std::vector<uint32_t> atomic_tiers(const Instance &device, uint32_t agents);
bool software(const Instance &device, uint32_t tier);
uint64_t granule(const Instance &device, uint32_t tier); // of its domain, at least 1
// Where a result is looked at: a tier in a hardware domain if there is one, else `otherwise`.
uint32_t observer_tier(const Instance &device, uint32_t otherwise);

// Commands of a batch to make a queue for: as many as wanted, or the most there can be.
uint32_t batch_room(const Instance &device, uint32_t wanted);

inline double elapsed(measure::Clock::time_point begin) { // seconds
    return measure::seconds_between(begin, measure::Clock::now());
}

inline std::byte *at(const hbf_region_info &region, uint64_t offset) {
    return static_cast<std::byte *>(region.address) + offset;
}

// Byte `place` of generation `generation`. Neighbouring generations differ in every byte.
std::byte generation_byte(uint64_t generation, uint64_t place);
void put_generation(std::byte *to, uint64_t size, uint64_t generation, uint64_t place);

// Bytes that should be of one generation.
struct Look {
    uint64_t wrong = 0, offset = 0; // bytes; the first one's offset
    std::byte expected{}, actual{};
    uint64_t stale = 0; // of the wrong ones, those of the generation before
};
Look look(const std::byte *bytes, uint64_t size, uint64_t generation, uint64_t place);

// Where bytes came from and went to, for the first screen of a report.
struct Place {
    const Instance *device;
    const hbf_region_info *region;
    uint64_t offset = 0; // of the first byte looked at
};
// Counts; fails the case if bytes are wrong: as `if_stale` where all of them are of the generation before, else `otherwise`.
void expect_generation(Context &context, const Place &place, const Look &seen, std::string_view otherwise, std::string what,
                       std::string_view if_stale = fault::stale);

// Fails as `fault_class` at a place.
[[noreturn]] void fail_at(std::string_view fault_class, const Place &place, std::string detail);

// A control: how often what must not happen did happen without the means against it.
struct Sightings {
    static constexpr uint64_t needed = 7; // a fault as frequent is missed with a probability of 0.1 % at most
    std::string name;
    uint64_t seen = 0, tries = 0;
    void count(bool shown) {
        seen += shown;
        ++tries;
    }
    bool enough() const { return seen >= needed; }
    std::string text() const; // "control F1' (no flush): seen 23 times in 25"
};
// Notes the control, with a metric; not seen often enough, the case is inconclusive.
void require_seen(Context &context, const Sightings &control);

} // namespace hbf::conformance::coherence
