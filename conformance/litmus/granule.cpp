// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/granule.hpp"

#include <atomic>

#include <fmt/format.h>

#include "conformance/measure/splitmix.hpp"

namespace hbf::litmus {
namespace {

constexpr uint64_t words = stamp_size / sizeof(uint64_t); // of a line

std::atomic_ref<uint64_t> word_at(const std::byte *at) {
    return std::atomic_ref<uint64_t>(*const_cast<uint64_t *>(reinterpret_cast<const uint64_t *>(at)));
}

// Word 0 is the version, word 1 owner and line; the others follow from these, each in its own way.
uint64_t filling(uint64_t version, uint64_t place, uint64_t number) {
    return splitmix(version * SplitMix::step + place + (number << 56));
}

uint64_t place_of(uint64_t owner, uint64_t line) {
    return owner << 32 | line;
}

} // namespace

void write_granule(std::span<std::byte> granule, Stamp stamp) {
    for (uint64_t line = 0; line * stamp_size < granule.size(); ++line) {
        std::byte *const at = granule.data() + line * stamp_size;
        const uint64_t place = place_of(stamp.owner, line);
        word_at(at).store(stamp.version, std::memory_order_relaxed);
        word_at(at + 8).store(place, std::memory_order_relaxed);
        for (uint64_t number = 2; number < words; ++number)
            word_at(at + 8 * number).store(filling(stamp.version, place, number), std::memory_order_relaxed);
    }
}

Reading read_granule(std::span<const std::byte> granule) {
    Reading out;
    for (uint64_t line = 0; line * stamp_size < granule.size(); ++line) {
        const std::byte *const at = granule.data() + line * stamp_size;
        const uint64_t version = word_at(at).load(std::memory_order_relaxed),
                       place = word_at(at + 8).load(std::memory_order_relaxed);
        const Stamp stamp{place >> 32, version};
        uint64_t expected = place_of(stamp.owner, line), actual = place;
        for (uint64_t number = 2; number < words && expected == actual; ++number) {
            expected = filling(version, place, number);
            actual = word_at(at + 8 * number).load(std::memory_order_relaxed);
        }
        if (expected != actual) {
            if (out.kind != Reading::damaged) {
                out.kind = Reading::damaged;
                out.offset = line * stamp_size;
                out.expected = expected;
                out.actual = actual;
            }
            ++out.wrong_lines;
            continue;
        }
        if (line == 0) out.first = stamp;
        if (stamp == out.first) continue;
        if (out.kind == Reading::whole) {
            out.kind = Reading::mixed;
            out.other = stamp;
            out.offset = line * stamp_size;
        }
        ++out.wrong_lines;
    }
    return out;
}

std::string to_string(const Reading &reading) {
    const uint64_t line = reading.offset / stamp_size;
    switch (reading.kind) {
    case Reading::whole:
        return fmt::format("whole: version {} of {}", reading.first.version, reading.first.owner);
    case Reading::mixed:
        return fmt::format("line {} (byte {}) is of version {} of {}, line 0 of version {} of {}; {} lines differ", line,
                           reading.offset, reading.other.version, reading.other.owner, reading.first.version,
                           reading.first.owner, reading.wrong_lines);
    case Reading::damaged:
        break;
    }
    return fmt::format(
        "line {} (byte {}) was never written so: a word is {:#x} where its line says {:#x}; {} lines are wrong", line,
        reading.offset, reading.actual, reading.expected, reading.wrong_lines);
}

void copy_words(std::span<std::byte> dst, std::span<const std::byte> src) {
    for (uint64_t at = 0; at + 8 <= dst.size(); at += 8)
        word_at(dst.data() + at).store(word_at(src.data() + at).load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void fill_words(std::span<std::byte> dst, uint64_t word) {
    for (uint64_t at = 0; at + 8 <= dst.size(); at += 8) word_at(dst.data() + at).store(word, std::memory_order_relaxed);
}

} // namespace hbf::litmus
