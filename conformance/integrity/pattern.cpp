// SPDX-License-Identifier: Apache-2.0
#include "conformance/integrity/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "conformance/integrity/pattern_words.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::integrity {
namespace {

constexpr std::array<PatternInfo, 12> table{{
    {Pattern::address_hash, "p0", "address_hash", "hash of seed, generation and address; then its complement", 2},
    {Pattern::solid, "p1", "solid", "all bits 0; all bits 1", 2},
    {Pattern::checkerboard, "p2", "checkerboard", "0x55 and 0xaa, in turn by word, by 64-byte line and by 8 KiB row", 6},
    {Pattern::walking, "p3", "walking", "one bit set, then one bit clear, in 64, 256 and 512 bits", 6},
    {Pattern::moving_inversions, "p4", "moving_inversions", "March C-: up w0, up r0w1, up r1w0, down r0w1, down r1w0, r0",
     2},
    {Pattern::own_address, "p5", "own_address", "each 8-byte word holds its address; then its complement", 2},
    {Pattern::modulo_20, "p6", "modulo_20",
     "every 20th line written once, all others three times; only the 20ths are judged", 2},
    {Pattern::random, "p7", "random", "counter-based random words; bf16 values of small spread, as keys and values have", 2},
    {Pattern::block_move, "p8", "block_move", "granules moved from tier to tier, checked at the end of the way", 1},
    {Pattern::switching, "p9", "switching", "0x5aa5a55a, 0x16, 0xb5 and words of 0 and 1 in turn: most lines switch at once",
     4},
    {Pattern::bit_fade, "p10", "bit_fade", "written, left alone, then read", 2},
    {Pattern::witness, "p11", "witness", "written once, read again for the whole run: storage against transfer", 1},
}};

constexpr uint64_t piece = 4096; // bytes: generated at a time, compared from the cache

uint64_t load(const std::byte *at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// Calls each(word address, first byte in it, bytes of it) for the parts of words at the two ends, body(address, bytes) for
// the whole words between.
template <class Part, class Body>
void split(uint64_t address, uint64_t size, const Part &part, const Body &body) {
    const uint64_t end = address + size;
    if (const uint64_t inside = address % word_size; inside != 0 && size != 0) {
        const uint64_t bytes = std::min(word_size - inside, size);
        part(address - inside, inside, bytes);
        address += bytes;
    }
    const uint64_t whole = (end - address) / word_size * word_size;
    if (whole != 0) body(address, whole);
    if (address + whole < end) part(address + whole, uint64_t{0}, end - address - whole);
}

void generate_words(const Datum &datum, std::byte *dst, uint64_t size, uint64_t address) {
    if (datum.hashed()) return kernels::pattern_fill(dst, size, datum.key(), address);
    with_words(datum, [&](const auto &word) {
        for (uint64_t at = 0; at < size; at += word_size) {
            const uint64_t value = word(address + at);
            std::memcpy(dst + at, &value, sizeof value);
        }
    });
}

} // namespace

std::span<const PatternInfo> patterns() {
    return table;
}

const PatternInfo &info_of(Pattern pattern) {
    return table.at(static_cast<size_t>(pattern));
}

std::optional<Pattern> pattern_from(std::string_view text) {
    for (const auto &one : table)
        if (text == one.id || text == one.name) return one.pattern;
    return std::nullopt;
}

bool Datum::hashed() const {
    return pattern == Pattern::address_hash || pattern == Pattern::moving_inversions || pattern == Pattern::block_move ||
           pattern == Pattern::bit_fade || pattern == Pattern::witness;
}

kernels::PatternKey Datum::key() const {
    return {seed, generation, pass % 2 == 1};
}

uint64_t word_of(const Datum &datum, uint64_t address) {
    if (datum.hashed())
        return kernels::pattern_word(datum.key(), address) | uint64_t{kernels::pattern_word(datum.key(), address + 4)} << 32;
    uint64_t value = 0;
    with_words(datum, [&](const auto &word) { value = word(address); });
    return value;
}

void generate(const Datum &datum, void *dst, uint64_t size, uint64_t address) {
    auto *out = static_cast<std::byte *>(dst);
    const uint64_t start = address;
    split(
        address, size,
        [&](uint64_t word, uint64_t first, uint64_t bytes) {
            const uint64_t value = word_of(datum, word);
            std::memcpy(out + (word + first - start), reinterpret_cast<const std::byte *>(&value) + first, bytes);
        },
        [&](uint64_t at, uint64_t bytes) { generate_words(datum, out + (at - start), bytes, at); });
}

bool judged(const Datum &datum, uint64_t address) {
    return datum.pattern != Pattern::modulo_20 || is_twentieth(datum, address);
}

uint64_t compare(const Datum &datum, const void *src, uint64_t size, uint64_t address, const Sink &sink) {
    const auto *in = static_cast<const std::byte *>(src);
    const uint64_t start = address;
    uint64_t wrong = 0;
    const auto look = [&](uint64_t at, uint64_t expected, uint64_t actual) {
        if (expected == actual || !judged(datum, at)) return;
        ++wrong;
        sink({at, expected, actual});
    };
    split(
        address, size,
        [&](uint64_t word, uint64_t first, uint64_t bytes) {
            const uint64_t expected = word_of(datum, word);
            uint64_t actual = expected;
            std::memcpy(reinterpret_cast<std::byte *>(&actual) + first, in + (word + first - start), bytes);
            look(word, expected, actual);
        },
        [&](uint64_t at, uint64_t bytes) {
            const std::byte *const from = in + (at - start);
            // The quick look at all of it; what is wrong, if anything, is found piece by piece.
            if (datum.hashed() && kernels::pattern_verify(from, bytes, datum.key(), at).wrong_words == 0) return;
            alignas(line_size) std::array<std::byte, piece> due;
            for (uint64_t done = 0; done < bytes; done += piece) {
                const uint64_t count = std::min(piece, bytes - done);
                generate_words(datum, due.data(), count, at + done);
                if (std::memcmp(due.data(), from + done, count) == 0) continue;
                for (uint64_t i = 0; i < count; i += word_size)
                    look(at + done + i, load(due.data() + i), load(from + done + i));
            }
        });
    return wrong;
}

uint32_t granule_crc(const void *bytes, uint64_t size, uint64_t granule, uint32_t generation) {
    const std::array<uint64_t, 3> identity{granule, generation, size};
    return kernels::crc32c(bytes, size, kernels::crc32c(identity.data(), sizeof identity));
}

} // namespace hbf::integrity
