// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/format.hpp"

#include "kernels/host/crc32c.hpp"

namespace hbf::kv::cold {
namespace {

constexpr std::array<char, 8> superblock_magic{'H', 'B', 'F', 'C', 'O', 'L', 'D', '\n'};
constexpr std::array<char, 8> segment_magic{'H', 'B', 'F', 'S', 'E', 'G', 'M', '\n'};
constexpr std::array<char, 8> batch_magic{'H', 'B', 'F', 'B', 'T', 'C', 'H', '\n'};

// Of the whole page, its own word left out.
uint32_t crc_around(const void *page, size_t word) noexcept {
    const auto *bytes = static_cast<const std::byte *>(page);
    const size_t after = word + sizeof(uint32_t);
    return kernels::crc32c(bytes + after, page_size - after, kernels::crc32c(bytes, word));
}

constexpr size_t crc_word = 12;
static_assert(offsetof(Superblock, crc) == crc_word && offsetof(SegmentPage, crc) == crc_word);
static_assert(offsetof(BatchHead, crc) == crc_word && offsetof(BatchPage, head) == 0);

template <class Page, class Head>
void seal_as(Page &page, Head &head, const std::array<char, 8> &magic) noexcept {
    head.magic = magic;
    head.version = format_version;
    head.crc = crc_around(&page, crc_word);
}

template <class Page, class Head>
bool is_sealed(const Page &page, const Head &head, const std::array<char, 8> &magic) noexcept {
    return head.magic == magic && head.version == format_version && head.crc == crc_around(&page, crc_word);
}

} // namespace

void seal(Superblock &page) noexcept {
    seal_as(page, page, superblock_magic);
}
void seal(SegmentPage &page) noexcept {
    seal_as(page, page, segment_magic);
}
void seal(BatchPage &page) noexcept {
    seal_as(page, page.head, batch_magic);
}

bool is_sound(const Superblock &page) noexcept {
    return is_sealed(page, page, superblock_magic);
}
bool is_sound(const SegmentPage &page) noexcept {
    return is_sealed(page, page, segment_magic) && page.sequence != 0;
}
bool is_sound(const BatchPage &page) noexcept {
    const BatchHead &head = page.head;
    if (!is_sealed(page, head, batch_magic) || head.entries > most_entries) return false;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < head.entries; ++i) {
        if (page.entries[i].length > granule_size) return false;
        bytes += whole_pages(page.entries[i].length);
    }
    return bytes <= head.pages * page_size;
}

} // namespace hbf::kv::cold
