// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/histogram.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hbf::litmus {
namespace {

std::string value_text(uint8_t value) {
    if (value == stale_value) return "stale";
    if (value == alien_value) return "alien";
    return std::to_string(value);
}

} // namespace

bool holds(const Outcome &asked, const Observed &seen) {
    return std::all_of(asked.begin(), asked.end(), [&](const Condition &condition) {
        return (condition.final ? seen.finals[condition.index] : seen.registers[condition.index]) == condition.value;
    });
}

bool asked(const Shape &shape, const Observed &seen) {
    return std::any_of(shape.asked.begin(), shape.asked.end(), [&](const Outcome &one) { return holds(one, seen); });
}

bool impossible(const Observed &seen) {
    const auto bad = [](uint8_t value) { return value > largest_value; };
    return std::any_of(seen.registers.begin(), seen.registers.end(), bad) ||
           std::any_of(seen.finals.begin(), seen.finals.end(), bad);
}

bool violates(const Shape &shape, const Observed &seen) {
    return impossible(seen) || (shape.rule == Rule::forbidden && asked(shape, seen));
}

std::string to_string(const Shape &shape, const Observed &seen) {
    std::string out;
    for (unsigned i = 0; i < shape.registers(); ++i) out += fmt::format("r{}={} ", i, value_text(seen.registers[i]));
    for (unsigned i = 0; i < shape.locations(); ++i) out += fmt::format("[{}]={} ", "xyz"[i], value_text(seen.finals[i]));
    out.pop_back();
    return out;
}

void Histogram::add(const Observed &seen, uint64_t count) {
    counts[seen] += count;
    instances += count;
}

void Histogram::add(const Histogram &other) {
    for (const auto &[seen, count] : other.counts) add(seen, count);
}

uint64_t Histogram::asked(const Shape &shape) const {
    uint64_t sum = 0;
    for (const auto &[seen, count] : counts) sum += litmus::asked(shape, seen) ? count : 0;
    return sum;
}

uint64_t Histogram::impossible() const {
    uint64_t sum = 0;
    for (const auto &[seen, count] : counts) sum += litmus::impossible(seen) ? count : 0;
    return sum;
}

uint64_t Histogram::violations(const Shape &shape) const {
    uint64_t sum = 0;
    for (const auto &[seen, count] : counts) sum += violates(shape, seen) ? count : 0;
    return sum;
}

} // namespace hbf::litmus
