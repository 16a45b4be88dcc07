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
        segment.batches.clear(), segment.hashes.clear();
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

void Log::Writer::list_granules(uint32_t victim, Contents &contents) const {
    const std::shared_lock index(store->mutex);
    for (const uint64_t hash : store->segments[victim].hashes)
        store->index.for_each_of_hash(hash, [&](const Index::Record &record) {
            if (record.place.segment == victim) contents.granules.emplace_back(record.key, record.place);
        });
    const auto page = [](const auto &granule) { return granule.second.page; };
    std::ranges::sort(contents.granules, {}, page);
    const auto again = std::ranges::unique(contents.granules, {}, page); // a key that was put there twice
    contents.granules.erase(again.begin(), again.end());
}

// What is to be kept is staged, as it was: key, generation, length.
Result<> Log::Writer::keep_from(Lock &lock, uint32_t victim, uint64_t most_bytes, Contents &contents) {
    list_granules(victim, contents);
    auto kept = keep_granules(lock, victim, most_bytes, contents);
    if (kept && store->segments[victim].stones > 0 && !contents.is_oldest) kept = keep_removals(lock, victim, contents);
    if (kept || broken_) return kept;
    ++store->counters.lost; // it cannot be read to its end; what was found until there is kept
    store->notes.push_back(kept.error().message + "; the segment is given up");
    return {};
}

bool Log::Writer::fits_head(uint64_t bytes) const {
    return store->segments[*head_].end + (open_ ? page_size + open_->used : 0) + 2 * page_size + bytes <= segment_bytes_;
}

Result<> Log::Writer::keep_granules(Lock &lock, uint32_t victim, uint64_t most_bytes, Contents &contents) {
    Pages scratch;
    uint64_t kept = 0, read_from = 0, read_to = 0; // of the victim, in `scratch`
    for (size_t i = 0; i < contents.granules.size(); ++i) {
        const auto &[key, place] = contents.granules[i];
        const uint64_t bytes = whole_pages(place.length), offset = place.offset();
        const Keep keep = keeps(key, place, contents);
        if (keep == Keep::no || (keep == Keep::yes && kept + bytes > most_bytes)) continue;
        if (!fits_head(bytes)) {
            contents.stays = contents.stays || keep == Keep::pinned;
            continue;
        }
        if (offset + bytes > read_to) { // with those right behind it
            if (scratch.size() == 0) scratch = Pages(most_batch_bytes);
            read_from = offset, read_to = offset + bytes;
            for (size_t next = i + 1; next < contents.granules.size(); ++next) {
                const Place &behind = contents.granules[next].second;
                if (behind.offset() != read_to || read_to + whole_pages(behind.length) - read_from > scratch.size()) break;
                read_to += whole_pages(behind.length);
            }
            const Segment &segment = store->segments[victim];
            if (auto got =
                    read_at(store->calls, segment.fd.get(), scratch.data(), read_to - read_from, read_from, segment.file);
                !got)
                return got;
        }
        const std::byte *const data = scratch.data() + (offset - read_from);
        if (kernels::crc32c(data, place.length) != place.crc) {
            ++store->counters.lost;
            store->quarantine(key, place);
            continue;
        }
        Entry entry;
        entry.key = key;
        entry.length = place.length;
        entry.generation = place.generation;
        if (auto staged = stage(lock, entry, {data, place.length}); !staged) return tl::unexpected(staged.error());
        kept += keep == Keep::pinned ? 0 : bytes;
        ++store->counters.moved;
    }
    return {};
}

// They are known from the batch pages alone.
Result<> Log::Writer::keep_removals(Lock &lock, uint32_t victim, Contents &contents) {
    ScanFrom from = store->scan_from(victim);
    from.look_beyond = true;
    from.until = store->segments[victim].end;
    const BatchPages pages(*store, victim);
    const auto scanned = scan_segment(pages.calls(), from, [&](const BatchPage &page) -> Result<> {
        for (uint32_t i = 0; i < page.head.entries; ++i) {
            const Entry &entry = page.entries[i];
            if (!entry.removes()) continue;
            {
                const std::shared_lock index(store->mutex);
                if (store->index.find(entry.key) != nullptr) continue;
            }
            contents.stays = contents.stays || !fits_head(0);
            if (contents.stays) continue;
            if (auto staged = stage(lock, entry, {}); !staged) return tl::unexpected(staged.error());
        }
        return {};
    });
    return scanned ? Result<>() : tl::unexpected(scanned.error());
}

Log::Writer::Keep Log::Writer::keeps(const Key &key, const Place &place, const Contents &contents) const {
    bool touched = false;
    {
        std::shared_lock index(store->mutex);
        Index::Record *record = store->index.find(key);
        if (!record || record->place != place) return Keep::no;
        touched = std::atomic_ref(record->touched).load(std::memory_order_relaxed) != 0;
    }
    if (pinned_ && pinned_(key)) return Keep::pinned;
    return contents.keep_all || (wanted_ ? wanted_(key) : touched) ? Keep::yes : Keep::no;
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
