// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/view.hpp"

#include <algorithm>

#include "core/common/guarded.hpp"
#include "core/engine/cold/pages.hpp"

namespace hbf::kv::cold {

Result<std::unique_ptr<View>> View::open(const std::filesystem::path &path, const Owner &owner, bool uring) {
    return guarded([&]() -> Result<std::unique_ptr<View>> {
        auto folder = Folder::open(path, {owner}, Folder::Role::reader, system_calls());
        if (!folder) return tl::unexpected(folder.error());
        auto store = std::make_shared<Store>();
        store->folder = std::move(*folder);
        store->calls = system_calls();
        store->uring = uring;
        store->try_direct();
        std::unique_ptr<View> view(new View(std::move(store)));
        if (auto done = view->refresh(); !done) return tl::unexpected(done.error());
        return view;
    });
}

Result<> View::refresh() {
    return guarded([&]() -> Result<> {
        const bool has_writer = store_->folder.has_writer();
        if (auto opened = store_->open_segments(false); !opened) return opened;
        if (auto looked = look_at_segments(has_writer); !looked) return looked;
        const auto order = store_->in_order();
        for (const uint32_t number : order) // all but the youngest were finished before the next was begun
            if (auto read = read_on(number, has_writer, !has_writer && number == order.back()); !read) return read;
        return {};
    });
}

// What is in another life than the last time is forgotten first: a granule may have been moved.
Result<> View::look_at_segments(bool has_writer) {
    again_.resize(store_->segments.size());
    uint64_t youngest = 0; // of what was read before
    for (const Segment &segment : store_->segments)
        if (segment.end > first_batch) youngest = std::max(youngest, segment.sequence);
    bool all_again = false;
    for (uint32_t number = 0; number < store_->segments.size(); ++number) {
        Segment &segment = store_->segments[number];
        if (!segment.fd) continue;
        const uint64_t word = store_->word(number);
        const auto sequence = store_->sequence_of(number);
        if (!sequence) return tl::unexpected(sequence.error());
        // While a writer is at work its word is the truth: of another life, the segment is just being begun.
        const uint64_t now = has_writer && word != *sequence ? 0 : *sequence;
        if (now == segment.sequence && word == segment.word && !again_[number]) continue;
        std::unique_lock index(store_->mutex);
        store_->index.erase_if([&](const Index::Record &record) { return record.place.segment == number; });
        segment.live = segment.stones = 0;
        segment.sequence = now;
        segment.word = word;
        segment.end = first_batch;
        segment.last = 0;
        again_[number] = 0;
        all_again = all_again || (now != 0 && now < youngest);
    }
    if (!all_again) return {};
    // What is older than what was read (the writer left, and a segment that it had given up is still whole) must not come
    // on top of it.
    std::unique_lock index(store_->mutex);
    store_->index.clear();
    for (Segment &segment : store_->segments) {
        segment.live = segment.stones = 0;
        segment.end = first_batch;
        segment.last = 0;
    }
    return {};
}

Result<> View::read_on(uint32_t number, bool has_writer, bool verify) {
    Segment &segment = store_->segments[number];
    ScanFrom from = store_->scan_from(number);
    from.place = segment.end;
    from.after = segment.last;
    from.look_beyond = !has_writer;
    // The writer says what is on the medium; else bytes have to prove by their checksums that they are whole.
    const uint64_t durable = has_writer ? store_->folder.words().durable.load(std::memory_order_acquire) : 0;
    const Error enough{Code::cancelled, "", no_place, ""};
    const Pages scratch(verify ? most_batch_bytes : page_size);
    auto scanned = scan_segment(store_->calls, from, [&](const BatchPage &page) -> Result<> {
        if (has_writer && page.head.sequence > durable) return tl::unexpected(enough);
        if (verify) {
            const auto whole = is_whole(store_->calls, from.fd, from.file, page, scratch.data());
            if (!whole || !*whole) {
                again_[number] = 1;
                return {};
            }
        }
        std::unique_lock index(store_->mutex);
        store_->put_batch(number, page);
        segment.end = page.head.place + page_size + page.head.pages * page_size;
        segment.last = page.head.sequence;
        return {};
    });
    if (!scanned && scanned.error().code != Code::cancelled) return tl::unexpected(scanned.error());
    return {};
}

std::optional<Found> View::find(const Key &key) const {
    const auto at = store_->locate(key);
    return at ? std::optional(Found{at->place.length, at->place.generation}) : std::nullopt;
}

size_t View::granules() const {
    std::shared_lock index(store_->mutex);
    return store_->index.size();
}

} // namespace hbf::kv::cold
