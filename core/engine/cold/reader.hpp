// SPDX-License-Identifier: Apache-2.0
// Reads granules, many at once, and gives out none whose checksum does not match.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/cold/format.hpp"
#include "core/engine/cold/io.hpp"
#include "core/engine/cold/store.hpp"

namespace hbf::kv::cold {

struct ReadRequest {
    Key key;
    std::byte *to = nullptr; // at a multiple of 4 KiB
    uint64_t room = 0;       // bytes there, at least the length rounded up to 4 KiB; a granule always suffices
    uint64_t tag = 0;        // the caller's
};

struct Granule {
    uint32_t length = 0; // bytes
    uint64_t generation = 0;
    uint32_t crc = 0; // CRC-32C of them
};

// UNAVAILABLE: not there (never was, evicted, removed): a miss. DATA_LOSS: it was there and is damaged; it is not found
// again. What is in `to` then is nothing. INVALID: `to` or `room`.
struct ReadDone {
    uint64_t tag = 0;
    Result<Granule> result;
};

class Reader { // [one thread at a time]; any number of them beside each other and beside the writer
public:
    // INVALID: a depth of 0 or more than 4096.
    static Result<std::unique_ptr<Reader>> create(std::shared_ptr<Store> store, uint32_t depth);
    Reader(std::shared_ptr<Store> store, uint32_t depth);
    ~Reader(); // waits for what is in flight

    uint32_t depth() const { return io_->depth(); }
    size_t in_flight() const { return depth() - free_.size() + done_.size(); }
    bool has_room() const { return !free_.empty(); }
    void begin(const ReadRequest &request); // only while has_room(); `to` is the kernel's until it is done
    // What is done, in any order; the kernel has all that was begun. Waits for one if `wait` and something is in flight.
    size_t finish(std::span<ReadDone> done, bool wait);

    Result<Granule> read(const Key &key, std::byte *to, uint64_t room); // nothing else in flight

private:
    struct Slot {
        ReadRequest request;
        Store::Located at;
        bool again = false; // it was wrong once
        uint32_t moves = 0;
    };
    bool find(Slot &slot); // where it is now; false: a result stands in done_
    void start(uint32_t id);
    void look_at(const IoDone &io);
    void give(const Slot &slot, Result<Granule> result) { done_.push_back({slot.request.tag, std::move(result)}); }

    std::shared_ptr<Store> store_;
    std::vector<Slot> slots_;
    std::vector<uint32_t> free_;
    std::deque<ReadDone> done_;
    std::unique_ptr<Io> io_;
};

} // namespace hbf::kv::cold
