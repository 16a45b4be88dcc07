// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/store.hpp"

#include <algorithm>
#include <charconv>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "core/engine/cold/pages.hpp"

namespace hbf::kv::cold {

std::optional<Store::Located> Store::locate(const Key &key) const {
    std::shared_lock lock(mutex);
    const Index::Record *record = index.find(key);
    if (!record) return std::nullopt;
    std::atomic_ref(const_cast<Index::Record *>(record)->touched).store(1, std::memory_order_relaxed);
    const Segment &segment = segments[record->place.segment];
    return Located{record->place, segment.fd.get(), segment.word};
}

void Store::quarantine(const Key &key, const Place &place) {
    std::unique_lock lock(mutex);
    const Index::Record *record = index.find(key);
    if (!record || record->place != place) return;
    quarantined.emplace_back(key, place);
    erase(key);
}

void Store::put(const Key &key, const Place &place) {
    const Index::Record *record = index.find(key);
    const Place before = record ? record->place : Place{};
    index.put(key, place);
    if (record) segments[before.segment].live -= whole_pages(before.length);
    segments[place.segment].live += whole_pages(place.length);
}

bool Store::erase(const Key &key) {
    const Index::Record *record = index.find(key);
    if (!record) return false;
    segments[record->place.segment].live -= whole_pages(record->place.length);
    return index.erase(key);
}

void Store::put_batch(uint32_t segment, const BatchPage &page) {
    auto &batches = segments[segment].batches;
    auto &hashes = segments[segment].hashes;
    const auto at = static_cast<uint32_t>(page.head.place / page_size);
    if (!batches.empty() && batches.back() >= at) batches.clear(), hashes.clear(); // read anew, or another life
    batches.push_back(at);
    uint64_t offset = page.head.place + page_size;
    for (uint32_t i = 0; i < page.head.entries; ++i) {
        const Entry &entry = page.entries[i];
        if (entry.removes()) {
            erase(entry.key);
            ++segments[segment].stones;
        } else {
            hashes.push_back(Index::hash(entry.key));
            put(entry.key, {segment, static_cast<uint32_t>(offset / page_size), entry.length, entry.crc, entry.generation});
        }
        offset += whole_pages(entry.length);
    }
}

void Store::try_direct() {
    if (!direct || folder.open_file("log", O_RDONLY | O_DIRECT)) return;
    direct = false;
    notes.push_back(fmt::format("{}: O_DIRECT is refused by the file system: the cold tier goes through the page cache",
                                folder.path().string()));
}

Result<> Store::open_segments(bool writable) {
    const auto names = folder.names();
    if (!names) return tl::unexpected(names.error());
    for (const std::string &name : *names) {
        const auto number = segment_number(name);
        if (!number) continue;
        {
            std::unique_lock lock(mutex);
            if (segments.size() <= *number) segments.resize(*number + 1);
            if (segments[*number].fd) continue;
        }
        auto fd = folder.open_file(name, flags(writable));
        if (!fd) return tl::unexpected(fd.error());
        struct stat facts = {};
        if (fstat(fd->get(), &facts) != 0 || facts.st_size < static_cast<off_t>(folder.superblock().segment_bytes)) {
            notes.push_back(fmt::format("{}: is cut short; what it held is not there", folder.label(name)));
            continue;
        }
        std::unique_lock lock(mutex);
        Segment &segment = segments[*number];
        segment.fd = std::move(*fd);
        segment.file = folder.label(name);
    }
    return {};
}

Result<uint64_t> Store::sequence_of(uint32_t number) const {
    const Pages memory(page_size);
    const Segment &segment = segments[number];
    if (auto got = read_at(calls, segment.fd.get(), memory.data(), page_size, 0, segment.file); !got)
        return tl::unexpected(got.error());
    const SegmentPage &page = memory.as<SegmentPage>();
    return is_sound(page) && page.log == folder.superblock().log && page.number == number ? page.sequence : 0;
}

std::vector<uint32_t> Store::in_order() const {
    std::vector<uint32_t> numbers;
    for (uint32_t number = 0; number < segments.size(); ++number)
        if (segments[number].sequence != 0) numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end(),
              [&](uint32_t a, uint32_t b) { return segments[a].sequence < segments[b].sequence; });
    return numbers;
}

int Store::flags(bool writable) const {
    return (writable ? O_RDWR : O_RDONLY) | (direct ? O_DIRECT : 0);
}

ScanFrom Store::scan_from(uint32_t number) const {
    const Segment &segment = segments[number];
    ScanFrom from;
    from.fd = segment.fd.get();
    from.file = segment.file;
    from.segment_bytes = folder.superblock().segment_bytes;
    from.log = folder.superblock().log;
    from.segment = segment.sequence;
    return from;
}

std::string segment_name(uint32_t number) {
    return fmt::format("segment-{:06}", number);
}

std::optional<uint32_t> segment_number(std::string_view name) {
    constexpr std::string_view begin = "segment-";
    if (!name.starts_with(begin)) return std::nullopt;
    name.remove_prefix(begin.size());
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || name.size() != 6 || number >= most_segments)
        return std::nullopt;
    return number;
}

} // namespace hbf::kv::cold
