// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/writer.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "kernels/host/copy.hpp"

namespace hbf::kv::cold {

Log::Writer::Writer(std::shared_ptr<Store> its_store, const LogOptions &options)
    : store(std::move(its_store)), segment_bytes_(store->folder.superblock().segment_bytes),
      most_segments_(static_cast<uint32_t>(options.capacity / segment_bytes_)), wanted_(options.wanted),
      pinned_(options.pinned), io_(make_io(most_batches, options.uring, store->calls)) {
    if (io_->one_by_one() && options.uring)
        store->notes.push_back(fmt::format("{}: {}: the cold tier reads and writes one after the other",
                                           store->folder.path().string(), io_->why()));
    for (uint32_t i = 0; i < most_batches; ++i) batches_.push_back({Pages(page_size + most_batch_bytes)});
}

Result<> Log::Writer::usable() const {
    if (broken_) return tl::unexpected(*broken_);
    if (closed_) return fail(Code::invalid, store->folder.path().string() + ": the log is closed");
    return {};
}

Result<> Log::Writer::give_up(const Error &why) {
    if (!broken_) {
        broken_ = why;
        broken_->message += "; nothing more is written to this log until it is opened again";
    }
    changed_.notify_all();
    return tl::unexpected(*broken_);
}

Result<Ticket> Log::Writer::append(const Key &key, uint64_t generation, std::span<const std::byte> bytes,
                                   std::optional<uint32_t> crc) {
    if (bytes.empty() || bytes.size() > granule_size)
        return fail(Code::invalid, fmt::format("a granule of {} bytes: 1 to {} are possible", bytes.size(), granule_size));
    Lock lock(mutex_);
    if (auto buried = bury_quarantined(lock); !buried) return tl::unexpected(buried.error());
    Entry entry;
    entry.key = key;
    entry.length = static_cast<uint32_t>(bytes.size());
    entry.generation = generation;
    auto ticket = stage(lock, entry, bytes, crc);
    if (!ticket) return ticket;
    ++store->counters.appended;
    store->counters.appended_bytes += bytes.size();
    return ticket;
}

Result<Ticket> Log::Writer::remove(const Key &key) {
    Lock lock(mutex_);
    if (auto usable_now = usable(); !usable_now) return tl::unexpected(usable_now.error());
    {
        std::unique_lock index(store->mutex);
        if (store->erase(key)) ++store->counters.removed;
    }
    Entry entry;
    entry.key = key;
    return stage(lock, entry, {}); // also for what is not found: it may be on its way
}

// What a reader found damaged must not come back by an older version of it that is still in the log.
Result<> Log::Writer::bury_quarantined(Lock &lock) {
    std::vector<std::pair<Key, Place>> damaged;
    {
        std::unique_lock index(store->mutex);
        damaged.swap(store->quarantined);
    }
    for (const auto &item : damaged) {
        Entry entry;
        entry.key = item.first;
        if (auto staged = stage(lock, entry, {}); !staged) return tl::unexpected(staged.error());
    }
    return {};
}

Result<Ticket> Log::Writer::stage(Lock &lock, const Entry &entry, std::span<const std::byte> bytes,
                                  std::optional<uint32_t> crc) {
    const uint64_t pages = whole_pages(bytes.size());
    if (auto room = make_room(lock, pages); !room) return tl::unexpected(room.error());
    BatchPage &page = open_->page();
    Entry &mine = page.entries[page.head.entries];
    mine = entry;
    if (!bytes.empty()) {
        std::byte *to = open_->memory.data() + page_size + open_->used;
        kernels::copy_crc32c(to, bytes.data(), bytes.size(), kernels::Stores::streaming, &mine.crc);
        if (crc && *crc != mine.crc)
            return fail(Code::data_loss, fmt::format("{}: the bytes to be appended are not what their checksum says",
                                                     store->folder.path().string()));
        std::memset(to + bytes.size(), 0, pages - bytes.size());
    }
    open_->used += pages;
    ++page.head.entries;
    const Ticket ticket = page.head.sequence;
    // A disk that has nothing to do gets what there is; otherwise it would wait for a whole batch after each commit.
    if (open_->used >= early_bytes && !io_->one_by_one() && !in_flight())
        if (auto sealed = seal_batch(); !sealed) return tl::unexpected(sealed.error());
    return ticket;
}

Result<> Log::Writer::make_room(Lock &lock, uint64_t bytes) {
    for (;;) {
        changed_.wait(lock, [&] { return !reclaiming_ || reclaimer_ == std::this_thread::get_id(); });
        if (auto usable_now = usable(); !usable_now) return usable_now;
        if (open_) {
            if (open_->page().head.entries < most_entries && open_->used + bytes <= open_->limit) return {};
            if (auto sealed = seal_batch(); !sealed) return sealed;
        }
        if (head_ && store->segments[*head_].end + page_size + bytes <= segment_bytes_) {
            if (auto begun = begin_batch(); !begun) return begun;
        } else if (auto begun = next_head(lock); !begun) {
            return begun;
        }
    }
}

Result<> Log::Writer::begin_batch() {
    const auto is_free = [](const Batch &batch) { return !batch.in_flight; };
    auto free = std::find_if(batches_.begin(), batches_.end(), is_free);
    while (free == batches_.end()) {
        if (auto reaped = reap(true); !reaped) return reaped;
        free = std::find_if(batches_.begin(), batches_.end(), is_free);
    }
    const Segment &segment = store->segments[*head_];
    open_ = &*free;
    open_->used = 0;
    open_->limit = std::min(most_batch_bytes, segment_bytes_ - segment.end - page_size);
    BatchPage &page = open_->page();
    page = BatchPage{};
    page.head.log = store->folder.superblock().log;
    page.head.segment = segment.sequence;
    page.head.place = segment.end;
    page.head.sequence = next_batch_++;
    return {};
}

Result<> Log::Writer::seal_batch() {
    Segment &segment = store->segments[*head_];
    BatchPage &page = open_->page();
    page.head.durable_through = durable_;
    page.head.pages = static_cast<uint32_t>(open_->used / page_size);
    seal(page);
    open_->in_flight = true;
    segment.end += page_size + open_->used;
    segment.last = page.head.sequence;
    io_->begin({segment.fd.get(), true, open_->memory.data(), static_cast<uint32_t>(page_size + open_->used),
                page.head.place, static_cast<uint32_t>(open_ - batches_.data())});
    open_ = nullptr;
    return reap(false);
}

Result<> Log::Writer::reap(bool wait) {
    IoDone done[most_batches];
    const size_t count = io_->finish(done, wait);
    for (size_t i = 0; i < count; ++i) {
        Batch &batch = batches_[done[i].id];
        batch.in_flight = false;
        if (done[i].error != 0) {
            const Segment &segment = store->segments[*head_];
            return give_up({code_of_io(done[i].error),
                            fmt::format("{}: cannot be written at {}: {}", segment.file, batch.page().head.place,
                                        std::strerror(done[i].error)),
                            batch.page().head.place, segment.file});
        }
        written_.push_back(batch.page());
    }
    return {};
}

bool Log::Writer::in_flight() const {
    return std::any_of(batches_.begin(), batches_.end(), [](const Batch &batch) { return batch.in_flight; });
}

Result<> Log::Writer::commit(std::optional<Ticket> ticket) {
    Lock lock(mutex_);
    if (closed_) return usable();
    if (auto buried = bury_quarantined(lock); !buried) return buried;
    return flush(lock, ticket.value_or(next_batch_ - 1));
}

// One caller at a time brings to the medium what all have appended; the lock is not held meanwhile, so others append on.
Result<> Log::Writer::flush(Lock &lock, Ticket through) {
    while (durable_ < through) {
        if (broken_) return tl::unexpected(*broken_);
        if (syncing_) {
            changed_.wait(lock);
            continue;
        }
        if (open_)
            if (auto sealed = seal_batch(); !sealed) return sealed;
        while (in_flight())
            if (auto reaped = reap(true); !reaped) return reaped;
        std::vector<BatchPage> pages;
        pages.swap(written_);
        const uint64_t target = next_batch_ - 1;
        const int fd = store->segments[*head_].fd.get();
        const std::string file = store->segments[*head_].file;
        syncing_ = true;
        lock.unlock();
        auto synced = guarded([&] { return sync_file(store->calls, fd, file); });
        lock.lock();
        syncing_ = false;
        if (synced) synced = guarded([&] { return publish(pages); });
        if (!synced) return give_up(synced.error());
        durable_ = target;
        store->folder.words().durable.store(durable_, std::memory_order_release);
        ++store->counters.commits;
        changed_.notify_all();
    }
    return {};
}

Result<> Log::Writer::publish(std::vector<BatchPage> &pages) {
    std::sort(pages.begin(), pages.end(),
              [](const BatchPage &a, const BatchPage &b) { return a.head.sequence < b.head.sequence; });
    std::unique_lock index(store->mutex);
    for (const BatchPage &page : pages) store->put_batch(*head_, page);
    return {};
}

Result<> Log::Writer::close() {
    Lock lock(mutex_);
    if (closed_) return {};
    auto done = bury_quarantined(lock);
    if (done) done = flush(lock, next_batch_ - 1);
    closed_ = true;
    store->folder.end_writing(); // readers of this log may live on
    return done;
}

} // namespace hbf::kv::cold
