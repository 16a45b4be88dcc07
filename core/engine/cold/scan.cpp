// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/scan.hpp"

#include <algorithm>
#include <optional>

#include "core/engine/cold/pages.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::kv::cold {
namespace {

constexpr uint64_t search_bytes = 1 << 20; // read at once while looking for a batch

bool stands_here(const BatchPage &page, const ScanFrom &from, uint64_t place, uint64_t after) {
    const BatchHead &head = page.head;
    return is_sound(page) && head.log == from.log && head.segment == from.segment && head.place == place &&
           head.sequence > after && place + page_size + head.pages * page_size <= from.segment_bytes;
}

// The first place from `place` on where a batch stands.
Result<std::optional<uint64_t>> find_batch(const Calls &calls, const ScanFrom &from, uint64_t place, uint64_t after,
                                           Pages &scratch) {
    if (scratch.size() == 0) scratch = Pages(search_bytes);
    for (; place < from.segment_bytes; place += search_bytes) {
        const uint64_t size = std::min(search_bytes, from.segment_bytes - place);
        if (auto got = read_at(calls, from.fd, scratch.data(), size, place, from.file); !got)
            return tl::unexpected(got.error());
        for (uint64_t at = 0; at < size; at += page_size)
            if (stands_here(scratch.as<BatchPage>(at), from, place + at, after)) return place + at;
    }
    return std::nullopt;
}

} // namespace

Result<Scanned> scan_segment(const Calls &calls, const ScanFrom &from, const VisitBatch &visit) {
    const Pages memory(page_size);
    const BatchPage &page = memory.as<BatchPage>();
    Pages scratch;
    Scanned scanned;
    scanned.end = from.place;
    scanned.last = from.after;
    while (scanned.end + page_size <= std::min(from.segment_bytes, from.until)) {
        if (auto got = read_at(calls, from.fd, memory.data(), page_size, scanned.end, from.file); !got)
            return tl::unexpected(got.error());
        if (!stands_here(page, from, scanned.end, scanned.last)) {
            if (!from.look_beyond) break;
            const auto found = find_batch(calls, from, scanned.end + page_size, scanned.last, scratch);
            if (!found) return tl::unexpected(found.error());
            if (!*found) break;
            if (auto got = read_at(calls, from.fd, memory.data(), page_size, **found, from.file); !got)
                return tl::unexpected(got.error());
            scanned.gaps.push_back({scanned.end, **found, page.head.sequence});
            scanned.end = **found;
        }
        if (auto visited = visit(page); !visited) return tl::unexpected(visited.error());
        scanned.last = page.head.sequence;
        scanned.end += page_size + page.head.pages * page_size;
    }
    return scanned;
}

uint64_t offset_of_entry(const BatchPage &page, uint32_t index) noexcept {
    uint64_t offset = page.head.place + page_size;
    for (uint32_t i = 0; i < index; ++i) offset += whole_pages(page.entries[i].length);
    return offset;
}

Result<bool> is_whole(const Calls &calls, int fd, const std::string &file, const BatchPage &page, std::byte *scratch) {
    uint64_t size = 0;
    for (uint32_t i = 0; i < page.head.entries; ++i) size += whole_pages(page.entries[i].length);
    if (size > most_batch_bytes) return false;
    if (auto got = read_at(calls, fd, scratch, size, page.head.place + page_size, file); !got)
        return tl::unexpected(got.error());
    for (uint32_t i = 0; i < page.head.entries; ++i) {
        const Entry &entry = page.entries[i];
        const std::byte *bytes = scratch + (offset_of_entry(page, i) - page.head.place - page_size);
        if (kernels::crc32c(bytes, entry.length) != entry.crc) return false;
    }
    return true;
}

} // namespace hbf::kv::cold
