// SPDX-License-Identifier: Apache-2.0
#include "conformance/integrity/origin.hpp"

#include <bit>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "conformance/measure/cause.hpp"
#include "conformance/suite/verdict.hpp"

namespace hbf::integrity {
namespace {

namespace fault = conformance::fault;
using measure::Cause;

constexpr size_t most_following = 4; // 32-bit words: by chance that many agree once in 2^128

Origin of_cause(const Cause &cause) {
    Origin out;
    out.text = to_string(cause);
    out.back = cause.back;
    switch (cause.kind) {
    case Cause::Kind::poison:
        out.fault_class = fault::not_written;
        break;
    case Cause::Kind::stale:
        out.fault_class = fault::stale;
        break;
    case Cause::Kind::misplaced:
        out.fault_class = fault::misplaced;
        out.address = cause.address;
        break;
    case Cause::Kind::flipped:
        out.fault_class = fault::bit_flip;
        break;
    default:
        out.fault_class = fault::wrong_value;
    }
    return out;
}

Origin flips(uint64_t flipped, uint64_t actual) {
    const auto count = std::popcount(flipped);
    Origin out;
    out.fault_class = count <= 4 ? fault::bit_flip : fault::wrong_value;
    if (count == 1) {
        const auto bit = std::countr_zero(flipped);
        out.text = fmt::format("1 bit flipped (bit {}, {})", bit, actual >> bit & 1 ? "0->1" : "1->0");
    } else if (count <= 4) {
        out.text = fmt::format("{} bits flipped", count);
    } else if (actual == 0 || actual == ~uint64_t{0}) {
        out.text = "all bits the same: not the test's data";
    } else {
        out.text = "not the test's data";
    }
    return out;
}

} // namespace

Origin origin_of(const Surroundings &around, const WrongWord &word, std::span<const std::byte> following) {
    const uint64_t flipped = word.expected ^ word.actual;
    const auto held = [&](const Datum *datum) { return datum && word.actual == word_of(*datum, word.address); };
    if (held(around.poison)) return {fault::not_written, "never written: still the poison", std::nullopt, 0};
    if (held(around.before) && (around.before->generation < around.due.generation || !around.due.hashed())) {
        const auto &before = *around.before;
        const uint32_t back = around.due.generation - before.generation;
        return {fault::stale,
                fmt::format("stale: {} of generation {}, {} before", info_of(before.pattern).name, before.generation, back),
                std::nullopt, back};
    }
    if (around.due.pattern == Pattern::own_address) {
        const uint64_t address = around.due.pass % 2 == 1 ? ~word.actual : word.actual;
        // One bit off is as well a flipped bit; only the lanes of many words tell.
        if (std::popcount(flipped) > 1 && address < around.size && address % word_size == 0)
            return {fault::misplaced, fmt::format("misplaced: belongs at offset {:#x}", address), address, 0};
    }
    if (!around.due.hashed()) return flips(flipped, word.actual);

    // By the first wrong half, which with what follows tells more than one number of 64 bits.
    const bool upper = static_cast<uint32_t>(flipped) == 0;
    const unsigned shift = upper ? 32 : 0;
    std::vector<uint32_t> next;
    if (!upper) next.push_back(static_cast<uint32_t>(word.actual >> 32));
    for (size_t at = 0; at + 4 <= following.size() && next.size() < most_following; at += 4) {
        uint32_t one;
        std::memcpy(&one, following.data() + at, sizeof one);
        next.push_back(one);
    }
    const auto cause = measure::find_cause(around.due.key(), around.size, word.address + shift / 8,
                                           static_cast<uint32_t>(word.expected >> shift),
                                           static_cast<uint32_t>(word.actual >> shift), next);
    // Flips are counted over the whole word.
    const bool known =
        cause.kind == Cause::Kind::poison || cause.kind == Cause::Kind::stale || cause.kind == Cause::Kind::misplaced;
    if (!known) return flips(flipped, word.actual);
    Origin out = of_cause(cause);
    const bool one_half = upper || flipped >> 32 == 0;
    if (one_half && cause.kind != Cause::Kind::misplaced) {
        out.fault_class = fault::torn;
        out.text = "torn: half of the word is new, the other half " + out.text;
    }
    return out;
}

} // namespace hbf::integrity
