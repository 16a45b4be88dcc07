// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/cause.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "kernels/host/pattern_hash.hpp"

namespace hbf::measure {
namespace {

using kernels::PatternKey;

constexpr uint64_t line = 64;
constexpr unsigned few_bits = 4;

PatternKey with(PatternKey key, uint32_t generation, bool complement) {
    key.generation = generation;
    key.complement = complement;
    return key;
}

// The hash is a bijection in each window of 16 GiB, so that a word says where it belongs. Data moves in lines at least: only
// the same place in a line is credible.
std::optional<uint64_t> belongs_at(const PatternKey &key, uint64_t buffer_size, uint64_t offset, uint32_t actual,
                                   std::span<const uint32_t> following) {
    const uint64_t windows = (buffer_size + (uint64_t{1} << 34) - 1) >> 34;
    for (uint64_t window = 0; window < windows; ++window) {
        const auto constants = kernels::pattern_window(key, static_cast<uint32_t>(window));
        const uint64_t at = (window << 32 | kernels::pattern_unhash(constants, actual)) * 4;
        if (at == offset || at % line != offset % line || at + 4 > buffer_size) continue;
        bool agree = true;
        for (size_t i = 0; i < following.size() && agree; ++i)
            agree = following[i] == kernels::pattern_word(key, at + 4 * (i + 1));
        if (agree) return at;
    }
    return std::nullopt;
}

} // namespace

std::string to_string(const Cause &cause) {
    switch (cause.kind) {
    case Cause::Kind::poison:
        return "never written: still the poison";
    case Cause::Kind::stale:
        return fmt::format("stale: data of generation {}, {} before", cause.generation, cause.back);
    case Cause::Kind::misplaced:
        if (cause.back == 0) return fmt::format("misplaced: belongs at offset {:#x}", cause.address);
        return fmt::format("misplaced and stale: belongs at offset {:#x}, generation {}, {} before", cause.address,
                           cause.generation, cause.back);
    case Cause::Kind::flipped:
        return cause.bits == 1 ? fmt::format("1 bit flipped (bit {})", cause.bit)
                               : fmt::format("{} bits flipped", cause.bits);
    case Cause::Kind::constant:
        return "all bits the same: not the test's data";
    case Cause::Kind::unknown:
        break;
    }
    return "not the test's data";
}

Cause find_cause(const PatternKey &key, uint64_t buffer_size, uint64_t offset, uint32_t expected, uint32_t actual,
                 std::span<const uint32_t> following) {
    using kernels::pattern_word;
    Cause cause;
    if (actual == pattern_word(with(key, key.generation, !key.complement), offset)) {
        cause.kind = Cause::Kind::poison;
        return cause;
    }
    const uint32_t oldest = std::min(generations_searched, key.generation);
    for (uint32_t back = 1; back <= oldest; ++back) {
        for (const bool complement : {false, true}) {
            const auto earlier = with(key, key.generation - back, complement);
            if (actual != pattern_word(earlier, offset)) continue;
            cause.kind = Cause::Kind::stale;
            cause.generation = earlier.generation;
            cause.back = back;
            return cause;
        }
    }
    for (uint32_t back = 0; back <= oldest; ++back) {
        // Without following words to confirm it, only data of this very pass is credible elsewhere.
        if (back > 0 && following.empty()) break;
        for (const bool other : {false, true}) {
            if (other && following.empty()) break;
            const auto earlier = with(key, key.generation - back, key.complement != other);
            const auto at = belongs_at(earlier, buffer_size, offset, actual, following);
            if (!at) continue;
            cause.kind = Cause::Kind::misplaced;
            cause.generation = earlier.generation;
            cause.back = back;
            cause.address = *at;
            return cause;
        }
    }
    const uint32_t flipped = expected ^ actual;
    if (flipped != 0 && static_cast<unsigned>(std::popcount(flipped)) <= few_bits) {
        cause.kind = Cause::Kind::flipped;
        cause.bits = static_cast<unsigned>(std::popcount(flipped));
        cause.bit = static_cast<unsigned>(std::countr_zero(flipped));
    } else if (actual == 0 || actual == UINT32_MAX) {
        cause.kind = Cause::Kind::constant;
    }
    return cause;
}

} // namespace hbf::measure
