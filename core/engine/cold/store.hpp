// SPDX-License-Identifier: Apache-2.0
// What a log, its views and its readers share: the open segments and where each granule is.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "core/common/fd.hpp"
#include "core/engine/cold/folder.hpp"
#include "core/engine/cold/index.hpp"
#include "core/engine/cold/scan.hpp"

namespace hbf::kv::cold {

// Each only grows.
struct Counters {
    std::atomic<uint64_t> appended{0}, appended_bytes{0};      // granules that are on the medium, without those moved
    std::atomic<uint64_t> commits{0};                          // groups brought to the medium
    std::atomic<uint64_t> moved{0}, evicted{0}, removed{0};    // granules: by compaction; for room; by `remove`
    std::atomic<uint64_t> reads{0}, read_bytes{0}, misses{0};  // granules read and verified; not there
    std::atomic<uint64_t> reread{0};                           // wrong at first, right when read again
    std::atomic<uint64_t> lost{0};                             // wrong for good, and never given out
    std::atomic<uint64_t> torn_batches{0}, damaged_batches{0}; // found at opening: never finished; once finished
    std::atomic<uint64_t> unreadable_segments{0};              // found at opening
    std::atomic<uint64_t> refused_growths{0};                  // the disk had no room for a segment within the capacity
};

struct Segment {
    Fd fd;
    std::string file;
    uint64_t sequence = 0;         // of its life; 0: it holds nothing
    uint64_t word = 0;             // what shared_words said when it was last looked at
    uint64_t end = first_batch;    // behind the last batch
    uint64_t last = 0;             // that batch's sequence
    uint64_t live = 0, stones = 0; // bytes of pages that the index points to; entries that remove a key
    std::vector<uint32_t> batches; // pages of those that are on the medium, so that they can be read all at once
    std::vector<uint64_t> hashes;  // of the keys that were put there, so that what is left of them is found
};

struct Store {
    Folder folder;
    Calls calls;
    bool direct = true, uring = true; // wanted
    std::vector<std::string> notes;   // what is not as wanted, or was found damaged; since it was opened
    Counters counters;

    mutable std::shared_mutex mutex; // of all below
    Index index;
    std::deque<Segment> segments;                   // by number; one without a file may be among them
    std::vector<std::pair<Key, Place>> quarantined; // damaged; the writer has yet to remove them for good

    // Where a granule is now. `sequence`: bytes read there count if the word still says this afterwards.
    struct Located {
        Place place;
        int fd = -1;
        uint64_t word = 0;
    };
    std::optional<Located> locate(const Key &key) const; // marks it as touched
    uint64_t word(uint32_t segment) const { return folder.words().sequences[segment].load(std::memory_order_acquire); }
    void quarantine(const Key &key, const Place &place); // no longer found, unless it is elsewhere by now

    // [mutex held alone]
    void put(const Key &key, const Place &place);
    bool erase(const Key &key);
    void put_batch(uint32_t segment, const BatchPage &page); // all that its entries say

    // Asks the file system once whether it takes O_DIRECT; if not, `direct` is off and a note says so.
    void try_direct();
    int flags(bool writable) const; // to open a segment with
    // Opens the segment files that are there and not open yet, and reads in which life each of these is.
    Result<> open_segments(bool writable);
    Result<uint64_t> sequence_of(uint32_t number) const; // by its page; 0: it holds nothing of this log
    std::vector<uint32_t> in_order() const;              // those that hold something, the oldest first
    ScanFrom scan_from(uint32_t number) const;           // all of it
};

std::string segment_name(uint32_t number);
std::optional<uint32_t> segment_number(std::string_view name); // of "segment-000012"

} // namespace hbf::kv::cold
