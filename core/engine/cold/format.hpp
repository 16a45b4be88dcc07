// SPDX-License-Identifier: Apache-2.0
// The bytes of a cold log on the medium. All of it little-endian, in pages of 4 KiB, so that O_DIRECT can carry it.
//
//   log               superblock (one page), then shared words that processes map (shared_words.hpp)
//   segment-000000    segment page, then batches; preallocated, all segments of one size
//     batch           batch page (who is in it, their checksums), then the bytes of each entry, padded to whole pages
//
// A batch is what one write brings: up to 62 entries and 2 MiB. Its page is protected by a CRC-32C, and says where it
// stands, in which log and in which life of the segment, so that nothing stale or misplaced passes for it. The page also
// says up to which batch everything was on the medium when it was written: after a crash only what is younger has to be read
// to know whether it is whole.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/engine/types.hpp"

namespace hbf::kv::cold {

static_assert(std::endian::native == std::endian::little);

inline constexpr uint64_t page_size = 4096;
inline constexpr uint32_t format_version = 1;
inline constexpr uint32_t most_entries = 62;
inline constexpr uint64_t most_batch_bytes = 32 * granule_size; // behind the batch page
inline constexpr uint64_t first_batch = page_size;              // in a segment

constexpr uint64_t whole_pages(uint64_t bytes) noexcept {
    return (bytes + page_size - 1) / page_size * page_size;
}

// Which granule: a block, and which of its parts.
struct Key {
    Identity block;
    uint32_t part = 0;
    auto operator<=>(const Key &) const = default;
};

using LogId = std::array<uint8_t, 16>; // random, new with each log and each wipe

struct Superblock {
    std::array<char, 8> magic{};
    uint32_t version = 0, crc = 0; // of the page with this word 0
    LogId log{};
    uint64_t granule = 0, segment_bytes = 0;
    Identity model, layout, tenant;
    std::array<char, 64> label{}; // for people: "Llama-3.1-8B fp16"
    std::array<std::byte, 3888> unused{};
};

struct SegmentPage {
    std::array<char, 8> magic{};
    uint32_t version = 0, crc = 0;
    LogId log{};
    uint64_t sequence = 0; // of this life of the segment; grows over all segments, 0 never
    uint32_t number = 0, unused_word = 0;
    std::array<std::byte, 4048> unused{};
};

struct Entry {
    Key key;
    uint32_t length = 0;     // bytes, at most a granule; 0: from here on the key is not there
    uint64_t generation = 0; // the writer's
    uint32_t crc = 0;        // CRC-32C of the bytes
    std::array<uint32_t, 3> unused{};
    bool removes() const { return length == 0; }
};

struct BatchHead {
    std::array<char, 8> magic{};
    uint32_t version = 0, crc = 0;
    LogId log{};
    uint64_t segment = 0;            // the segment's sequence
    uint64_t place = 0;              // of this page in the segment
    uint64_t sequence = 0;           // of the batch; grows over all segments
    uint64_t durable_through = 0;    // batches up to this one were on the medium before this page was written
    uint32_t entries = 0, pages = 0; // what follows; entries may be fewer than fill the pages (a hole that was mended)
    std::array<std::byte, 56> unused{};
};

struct BatchPage {
    BatchHead head;
    std::array<Entry, most_entries> entries{};
};

static_assert(sizeof(Superblock) == page_size && sizeof(SegmentPage) == page_size && sizeof(BatchPage) == page_size);
static_assert(sizeof(Entry) == 64 && sizeof(BatchHead) == 128);

// Each fills in magic, version and crc.
void seal(Superblock &page) noexcept;
void seal(SegmentPage &page) noexcept;
void seal(BatchPage &page) noexcept;

// Whether it is what it says it is, as far as its own bytes can tell: magic, version, CRC, and counts within bounds.
bool is_sound(const Superblock &page) noexcept;
bool is_sound(const SegmentPage &page) noexcept;
bool is_sound(const BatchPage &page) noexcept;

} // namespace hbf::kv::cold
