// SPDX-License-Identifier: Apache-2.0
// Where the next segment comes from: made, compacted or evicted. One segment that holds nothing is kept in reserve, so that
// what is worth keeping has somewhere to go.
//
// An entry that removes a key has to stay while an older segment may hold that key; so it moves along, except out of the
// oldest segment. That is also why only the oldest is ever evicted: nothing older can come to light.
#include <algorithm>

#include <fmt/format.h>

#include "core/engine/cold/batch_pages.hpp"
#include "core/engine/cold/writer.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::kv::cold {

uint64_t Log::Writer::spares() const {
    uint64_t made = 0, empty = 0;
    for (const Segment &segment : store->segments) {
        if (!segment.fd) continue;
        ++made;
        if (segment.sequence == 0) ++empty;
    }
    return empty + (made < most_segments_ ? most_segments_ - made : 0);
}

std::optional<uint32_t> Log::Writer::take_free() {
    uint32_t made = 0, gap = static_cast<uint32_t>(store->segments.size());
    for (uint32_t number = 0; number < store->segments.size(); ++number) {
        const Segment &segment = store->segments[number];
        if (!segment.fd) {
            gap = std::min(gap, number);
            continue;
        }
        ++made;
        if (segment.sequence == 0) return number;
    }
    if (made >= most_segments_) return std::nullopt;
    const std::string name = segment_name(gap);
    auto fd = store->folder.make_file(name, segment_bytes_, store->flags(true), store->calls);
    if (!fd) {
        if (store->counters.refused_growths++ == 0)
            store->notes.push_back(fd.error().message + "; the cold tier makes do with the segments that it has");
        return std::nullopt;
    }
    std::unique_lock index(store->mutex);
    if (gap == store->segments.size()) store->segments.emplace_back();
    store->segments[gap].fd = std::move(*fd);
    store->segments[gap].file = store->folder.label(name);
    return gap;
}

Result<> Log::Writer::next_head(Lock &lock) {
    // Nobody else appends meanwhile: what was staged belongs to the head that ends here, and what is moved must not come
    // after something newer of its key.
    struct Alone {
        explicit Alone(Writer &writer) : writer_(writer) {
            writer_.reclaiming_ = true;
            writer_.reclaimer_ = std::this_thread::get_id();
        }
        ~Alone() {
            writer_.reclaiming_ = false;
            writer_.changed_.notify_all();
        }
        Writer &writer_;
    };
    const Alone alone(*this);
    if (auto flushed = flush(lock, next_batch_ - 1); !flushed) return flushed;
    return take_next(lock);
}

Result<> Log::Writer::take_next(Lock &lock) {
    auto number = take_free();
    if (!number) {
        // No reserve: a crash came between its use and the making of another one, or the disk is full.
        if (auto freed = free_one(lock, false); !freed) return freed;
        number = take_free();
        if (!number) return fail(Code::internal, store->folder.path().string() + ": a segment that was freed is not free");
    }
    if (auto begun = begin_segment(*number); !begun) return begun;
    if (spares() > 0) return {};
    auto freed = free_one(lock, true);
    // Nothing to be given up yet: writing goes on, and the next time comes here without a reserve.
    if (!freed && freed.error().code != Code::exhausted) return freed;
    return {};
}

Result<> Log::Writer::begin_segment(uint32_t number) {
    const Pages memory(page_size);
    SegmentPage &page = memory.as<SegmentPage>();
    page.log = store->folder.superblock().log;
    page.sequence = ++last_segment_;
    page.number = number;
    seal(page);
    Segment &segment = store->segments[number];
    {
        std::unique_lock index(store->mutex);
        segment.sequence = segment.word = page.sequence;
        segment.end = first_batch;
        segment.last = 0;
        segment.live = segment.stones = 0;
        segment.batches.clear();
    }
    store->folder.words().sequences[number].store(page.sequence);
    if (auto written = write_at(store->calls, segment.fd.get(), memory.data(), page_size, 0, segment.file); !written)
        return give_up(written.error());
    // Before the bytes of its last life are overwritten that life has to be over on the medium too.
    if (auto synced = sync_file(store->calls, segment.fd.get(), segment.file); !synced) return give_up(synced.error());
    head_ = number;
    return {};
}

Result<> Log::Writer::free_one(Lock &lock, bool may_move) {
    auto order = store->in_order();
    std::erase_if(order, [&](uint32_t number) { return head_ && number == *head_; });
    if (order.empty())
        return fail(Code::exhausted, fmt::format("{}: no room for another segment of {} bytes, and none can be given up",
                                                 store->folder.path().string(), segment_bytes_));
    const uint64_t half = segment_bytes_ / 2;
    const auto pinned = pinned_bytes();
    // What is moved fills half of another segment at most: else moving would make no room, again and again.
    std::erase_if(order, [&](uint32_t number) { return pinned[number] > (may_move ? half : 0); });
    if (order.empty())
        return fail(Code::exhausted, fmt::format("{}: all that could be given up is in use: give a larger capacity",
                                                 store->folder.path().string()));
    const auto cost = [&](uint32_t number) { // of keeping all that it holds, in bytes
        const Segment &segment = store->segments[number];
        return segment.live + segment.stones * 2 * sizeof(Entry);
    };
    const uint32_t oldest = order.front();
    const uint32_t cheapest =
        *std::min_element(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return cost(a) < cost(b); });
    const bool compact = cost(cheapest) == 0 || (may_move && cost(cheapest) <= half);
    const uint32_t victim = compact && cost(oldest) > half ? cheapest : oldest;
    Contents contents;
    if (may_move) { // else there is nothing to be kept, or nowhere to go
        contents.keep_all = compact;
        contents.is_oldest = victim == store->in_order().front();
        if (auto kept = keep_from(lock, victim, half - pinned[victim], contents); !kept) return kept;
        if (contents.stays)
            return fail(Code::exhausted, fmt::format("{}: what is in use does not fit beside what was written: give a "
                                                     "larger capacity",
                                                     store->folder.path().string()));
    }
    if (auto flushed = flush(lock, next_batch_ - 1); !flushed) return flushed;
    let_go(victim, contents);
    return {};
}

// What is to be kept is staged, as it was: key, generation, length.
Result<> Log::Writer::keep_from(Lock &lock, uint32_t victim, uint64_t most_bytes, Contents &contents) {
    const Pages scratch(most_batch_bytes);
    const ScanFrom from = [&] {
        ScanFrom all = store->scan_from(victim);
        all.look_beyond = true;
        all.until = store->segments[victim].end;
        return all;
    }();
    const BatchPages pages(*store, victim);
    uint64_t kept = 0;
    auto scanned = scan_segment(pages.calls(), from, [&](const BatchPage &page) -> Result<> {
        bool have_bytes = false;
        for (uint32_t i = 0; i < page.head.entries; ++i) {
            Entry entry = page.entries[i];
            const uint64_t offset = offset_of_entry(page, i), bytes = whole_pages(entry.length);
            const Place place{victim, static_cast<uint32_t>(offset / page_size), entry.length, entry.crc, entry.generation};
            contents.granules.emplace_back(entry.key, place);
            const Segment &head = store->segments[*head_];
            const uint64_t end = head.end + (open_ ? page_size + open_->used : 0) + 2 * page_size;
            const Keep keep = keeps(entry, place, contents);
            if (keep == Keep::no || (keep == Keep::yes && bytes > 0 && kept + bytes > most_bytes)) continue;
            if (end + bytes > segment_bytes_) {
                contents.stays = contents.stays || keep == Keep::pinned || entry.removes();
                continue;
            }
            if (entry.removes()) {
                if (auto staged = stage(lock, entry, {}); !staged) return tl::unexpected(staged.error());
                continue;
            }
            if (!have_bytes) {
                const uint64_t size = std::min<uint64_t>(page.head.pages * page_size, most_batch_bytes);
                if (auto got = read_at(store->calls, from.fd, scratch.data(), size, page.head.place + page_size, from.file);
                    !got)
                    return got;
                have_bytes = true;
            }
            const std::byte *data = scratch.data() + (offset - page.head.place - page_size);
            if (kernels::crc32c(data, entry.length) == entry.crc) {
                if (auto staged = stage(lock, entry, {data, entry.length}); !staged) return tl::unexpected(staged.error());
                kept += keep == Keep::pinned ? 0 : bytes;
                ++store->counters.moved;
            } else {
                ++store->counters.lost;
                store->quarantine(entry.key, place);
            }
        }
        return {};
    });
    if (scanned || broken_) return scanned ? Result<>() : tl::unexpected(scanned.error());
    ++store->counters.lost; // it cannot be read to its end; what was found until there is kept
    store->notes.push_back(scanned.error().message + "; the segment is given up");
    return {};
}

Log::Writer::Keep Log::Writer::keeps(const Entry &entry, const Place &place, const Contents &contents) const {
    bool touched = false;
    {
        std::shared_lock index(store->mutex);
        Index::Record *record = store->index.find(entry.key);
        if (entry.removes()) return !contents.is_oldest && !record ? Keep::yes : Keep::no;
        if (!record || record->place != place) return Keep::no;
        touched = std::atomic_ref(record->touched).load(std::memory_order_relaxed) != 0;
    }
    if (pinned_ && pinned_(entry.key)) return Keep::pinned;
    return contents.keep_all || (wanted_ ? wanted_(entry.key) : touched) ? Keep::yes : Keep::no;
}

std::vector<uint64_t> Log::Writer::pinned_bytes() const {
    std::vector<uint64_t> bytes(store->segments.size(), 0);
    if (!pinned_) return bytes;
    std::vector<std::pair<Key, Place>> all; // the caller is not asked while the index is locked
    {
        std::shared_lock index(store->mutex);
        store->index.for_each([&](const Index::Record &record) { all.emplace_back(record.key, record.place); });
    }
    for (const auto &[key, place] : all)
        if (pinned_(key)) bytes[place.segment] += whole_pages(place.length);
    return bytes;
}

// Nothing points to the segment any more, and nobody who still reads there takes what comes for what was.
void Log::Writer::let_go(uint32_t number, const Contents &contents) {
    std::unique_lock index(store->mutex);
    for (const auto &[key, place] : contents.granules) {
        const Index::Record *record = store->index.find(key);
        if (!record || record->place != place) continue;
        store->erase(key);
        ++store->counters.evicted;
    }
    Segment &segment = store->segments[number];
    if (segment.live > 0) { // it was not gone through, or not to its end
        store->counters.evicted +=
            store->index.erase_if([&](const Index::Record &record) { return record.place.segment == number; });
    }
    segment.live = segment.stones = 0;
    segment.sequence = 0;
    segment.word = ++last_segment_;
    store->folder.words().sequences[number].store(segment.word);
}

// A capacity that is smaller than the last time: what is empty goes first, then the oldest.
Result<> Log::Writer::fit_capacity() {
    for (;;) {
        uint64_t made = 0;
        std::optional<uint32_t> goes;
        for (uint32_t number = 0; number < store->segments.size(); ++number) {
            if (!store->segments[number].fd) continue;
            ++made;
            if (store->segments[number].sequence == 0) goes = number;
        }
        if (made <= most_segments_) return {};
        if (!goes) goes = store->in_order().front();
        let_go(*goes, {});
        if (head_ == goes) head_.reset();
        if (auto gone = store->folder.remove_file(segment_name(*goes)); !gone) return gone;
        std::unique_lock index(store->mutex);
        store->segments[*goes].fd.reset();
    }
}

} // namespace hbf::kv::cold
