// SPDX-License-Identifier: Apache-2.0
// Opening a log for writing, and what there is to be told about it.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/engine/cold/writer.hpp"

namespace hbf::kv::cold {

Result<std::unique_ptr<Log::Writer>> Log::Writer::open(const LogOptions &options) {
    const Calls &calls = options.calls ? *options.calls : system_calls();
    Folder::Wanted wanted{options.owner, options.segment_bytes, options.wipe_other_tenant, options.segment_bytes == 0};
    if (wanted.any_segment_bytes) // sixteen of them, so that what goes at once is little
        wanted.segment_bytes = std::clamp<uint64_t>(std::bit_floor(options.capacity / 16), 1 << 20, 64 << 20);
    auto folder = Folder::open(options.folder, wanted, Folder::Role::writer, calls);
    if (!folder) return tl::unexpected(folder.error());
    if (const uint64_t bytes = folder->superblock().segment_bytes;
        options.capacity / bytes < 3 || options.capacity / bytes > most_segments)
        return fail(Code::invalid, fmt::format("{}: a capacity of {} bytes: 3 to {} segments of {} are possible",
                                               options.folder.string(), options.capacity, most_segments, bytes));
    auto store = std::make_shared<Store>();
    store->folder = std::move(*folder);
    store->calls = calls;
    store->direct = options.direct;
    store->uring = options.uring;
    store->try_direct();
    auto writer = std::make_unique<Writer>(store, options);
    if (auto started = writer->start(); !started) return tl::unexpected(started.error());
    if (store->folder.superblock().tenant != options.owner.tenant) {
        if (auto wiped = writer->wipe(options.owner.tenant); !wiped) return tl::unexpected(wiped.error());
        store->notes.push_back(options.folder.string() + ": what another tenant left was wiped");
    }
    return writer;
}

Result<> Log::Writer::start() {
    if (auto opened = store->open_segments(true); !opened) return opened;
    for (uint32_t number = 0; number < store->segments.size(); ++number) {
        Segment &segment = store->segments[number];
        if (!segment.fd) continue;
        const auto sequence = store->sequence_of(number);
        if (!sequence) {
            ++store->counters.unreadable_segments;
            store->notes.push_back(sequence.error().message + "; the segment counts as empty");
        }
        segment.sequence = sequence.value_or(0);
        segment.word = segment.sequence;
    }
    const auto found = recover(*store);
    if (!found) return tl::unexpected(found.error());
    next_batch_ = found->next_batch;
    durable_ = next_batch_ - 1; // of what was torn no page is left
    last_segment_ = found->last_segment;
    head_ = found->head;
    for (uint32_t number = 0; number < store->segments.size(); ++number) {
        // A view may hold on to a word that the last writer gave and never wrote to the medium: it must not come again.
        auto &word = store->folder.words().sequences[number];
        const uint64_t before = word.load();
        if (before < found->last_segment + (1ull << 32)) last_segment_ = std::max(last_segment_, before);
        word.store(store->segments[number].word);
    }
    store->folder.words().durable.store(durable_);
    const Counters &counters = store->counters;
    if (counters.damaged_batches > 0)
        store->notes.push_back(fmt::format("{}: {} batches that were complete once are damaged, and their granules gone",
                                           store->folder.path().string(), counters.damaged_batches.load()));
    return fit_capacity();
}

LogStats Log::Writer::stats() const {
    const Counters &counters = store->counters;
    LogStats stats;
    {
        std::shared_lock index(store->mutex);
        stats.granules = store->index.size();
        for (const Segment &segment : store->segments) {
            if (!segment.fd) continue;
            ++stats.segments;
            stats.live_bytes += segment.live;
        }
    }
    stats.used_bytes = stats.segments * segment_bytes_;
    stats.appended = counters.appended;
    stats.appended_bytes = counters.appended_bytes;
    stats.commits = counters.commits;
    stats.moved = counters.moved;
    stats.evicted = counters.evicted;
    stats.removed = counters.removed;
    stats.reads = counters.reads;
    stats.read_bytes = counters.read_bytes;
    stats.misses = counters.misses;
    stats.reread = counters.reread;
    stats.lost = counters.lost;
    stats.torn_batches = counters.torn_batches;
    stats.damaged_batches = counters.damaged_batches;
    stats.unreadable_segments = counters.unreadable_segments;
    stats.refused_growths = counters.refused_growths;
    return stats;
}

std::vector<std::string> Log::Writer::notes() {
    Lock lock(mutex_);
    return store->notes;
}

} // namespace hbf::kv::cold
