// SPDX-License-Identifier: Apache-2.0
// The writing side of a log. writer.cpp: batches and commits. segments.cpp: where the next segment comes from. wipe.cpp.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/engine/cold/io.hpp"
#include "core/engine/cold/log.hpp"
#include "core/engine/cold/pages.hpp"
#include "core/engine/cold/recovery.hpp"
#include "core/engine/cold/store.hpp"

namespace hbf::kv::cold {

class Log::Writer {
public:
    using Lock = std::unique_lock<std::mutex>;

    static Result<std::unique_ptr<Writer>> open(const LogOptions &options);
    Writer(std::shared_ptr<Store> its_store, const LogOptions &options);

    Result<Ticket> append(const Key &key, uint64_t generation, std::span<const std::byte> bytes,
                          std::optional<uint32_t> crc);
    Result<Ticket> remove(const Key &key);
    Result<> commit(std::optional<Ticket> ticket);
    Result<> close();
    Result<> wipe(const Identity &tenant);
    LogStats stats() const;
    std::vector<std::string> notes();

    const std::shared_ptr<Store> store;

private:
    static constexpr uint64_t early_bytes = 4 * granule_size;
    static constexpr uint32_t most_batches = 4; // in memory at once: one is filled, the others are being written

    struct Batch {
        Pages memory;                 // as it is written: the page, then the bytes
        uint64_t used = 0, limit = 0; // bytes behind the page
        bool in_flight = false;
        BatchPage &page() const { return memory.as<BatchPage>(); }
    };

    Result<> start();                   // what an earlier writer left
    Result<> usable() const;            // not closed, no error of the medium
    Result<> give_up(const Error &why); // after it nothing is written any more
    Result<> bury_quarantined(Lock &lock);

    // An entry and its bytes (none: it removes the key) go into the open batch.
    Result<Ticket> stage(Lock &lock, const Entry &entry, std::span<const std::byte> bytes,
                         std::optional<uint32_t> crc = std::nullopt);
    Result<> make_room(Lock &lock, uint64_t bytes);
    Result<> begin_batch();
    Result<> seal_batch();
    Result<> reap(bool wait);
    bool in_flight() const;
    Result<> flush(Lock &lock, Ticket through);
    Result<> publish(std::vector<BatchPage> &pages);

    // The head is full: everything in it is brought to the medium, and another segment is begun.
    Result<> next_head(Lock &lock);
    std::optional<uint32_t> take_free(); // one that holds nothing, made if the capacity allows
    uint64_t spares() const;             // how many of those there are
    Result<> begin_segment(uint32_t number);
    Result<> take_next(Lock &lock);
    Result<> free_one(Lock &lock, bool may_move); // compacts or evicts one: it holds nothing afterwards

    struct Contents { // of a segment that goes
        bool keep_all = false, is_oldest = false;
        bool stays = false;                            // something pinned has nowhere to go
        std::vector<std::pair<Key, Place>> granules{}; // as they stand there
    };
    void list_granules(uint32_t victim, Contents &contents) const;
    // What is not pinned is kept up to `most_bytes` of it.
    Result<> keep_from(Lock &lock, uint32_t victim, uint64_t most_bytes, Contents &contents);
    Result<> keep_granules(Lock &lock, uint32_t victim, uint64_t most_bytes, Contents &contents);
    Result<> keep_removals(Lock &lock, uint32_t victim, Contents &contents);
    bool fits_head(uint64_t bytes) const;
    enum class Keep { no, yes, pinned };
    Keep keeps(const Key &key, const Place &place, const Contents &contents) const;
    std::vector<uint64_t> pinned_bytes() const; // of each segment
    void let_go(uint32_t number, const Contents &contents);
    Result<> fit_capacity();

    const uint64_t segment_bytes_;
    const uint32_t most_segments_;
    const std::function<bool(const Key &)> wanted_, pinned_;

    std::mutex mutex_; // all below
    std::condition_variable changed_;
    std::optional<Error> broken_;
    bool closed_ = false, syncing_ = false, reclaiming_ = false; // the latter two: somebody is at it, the lock may be open
    std::thread::id reclaimer_;                                  // who is at it
    std::unique_ptr<Io> io_;
    std::vector<Batch> batches_;
    Batch *open_ = nullptr;
    std::vector<BatchPage> written_; // their bytes are in the file, and not yet on the medium for certain
    std::optional<uint32_t> head_;
    uint64_t durable_ = 0, next_batch_ = 1, last_segment_ = 0;
};

} // namespace hbf::kv::cold
