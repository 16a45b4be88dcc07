// SPDX-License-Identifier: Apache-2.0
// Heat of a block: its uses, each counting half as much for every half-life that has passed since. Kept as a logarithm,
//
//     key = log2( sum over uses of 2^(time of the use) ),      time counted in half-lives,
//
// which orders blocks as their heat does at any moment, so that nothing has to be decayed as time passes. A half-life that
// changes only changes how fast time runs: keys stay comparable. Fixed point, 16 fractional bits.
//
// add() never turns an order round: a block that was used whenever another was is at least as hot. So in a cache of prefixes
// a child is never hotter than its parent.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace hbf::kv::placement {

using Key = int64_t;
constexpr int key_bits = 16;
constexpr Key octave = Key{1} << key_bits; // one half-life, or a factor of two in heat
constexpr Key never = INT64_MIN / 4;       // of a block that was not used yet

// log2(1 + 2^-x) in steps of 1/64 octave; beyond the last it is less than half a unit.
constexpr int curve_bits = 10; // units of a step: 2^10
constexpr size_t curve_steps = 17 << (key_bits - curve_bits);
extern const std::array<uint32_t, curve_steps + 2> log_sum_curve;

// What one more use at `now` makes of a key.
inline Key add_use(Key key, Key now) noexcept {
    const Key high = key > now ? key : now;
    const uint64_t apart = static_cast<uint64_t>(key > now ? key - now : now - key);
    const uint64_t step = apart >> curve_bits;
    if (step >= curve_steps) return high;
    const uint32_t left = log_sum_curve[step], right = log_sum_curve[step + 1];
    // Between steps a straight line, never steeper than 1/2: or a hotter block could end as the colder one.
    return high + static_cast<Key>(left - (((left - right) * (apart & ((1u << curve_bits) - 1))) >> curve_bits));
}

// Units that a request adds to the time.
inline Key pace_of(double half_life_in_requests) noexcept {
    const double pace = static_cast<double>(octave) / half_life_in_requests;
    return pace < 1 ? 1 : static_cast<Key>(std::lround(pace));
}

// The half-life of a decay factor per request: 0.999 is 692.8 requests.
inline double half_life_of(double alpha) noexcept {
    return -std::log(2.0) / std::log(alpha);
}

inline double octaves(Key key) noexcept {
    return static_cast<double>(key) / static_cast<double>(octave);
}

} // namespace hbf::kv::placement
