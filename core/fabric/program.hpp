// SPDX-License-Identifier: Apache-2.0
// Runs a batch that the plugin cannot run by itself: copies staged through pinned memory, copies on another device's engine,
// checksums taken before and destinations read again after. To the caller it is one value like any other.
//
// The batch is cut at its waits and barriers into segments; a segment goes through source_crc, transfer, readback, close.
// One batch at a time: it begins when everything before it has completed, and what follows it waits.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "core/fabric/auxiliary.hpp"
#include "core/fabric/queue_core.hpp"

namespace hbf::fabric {

class Program {
public:
    explicit Program(QueueCore &owner) : owner_(owner) {}
    ~Program();
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    // [submitter] Everything that running will need of this device: its engine only, or beside it that bytes go through the
    // bounce buffers, or its checksum kernel.
    enum class Use { engine, bounce, checksums };
    Result<> need(const std::shared_ptr<DeviceCore> &device, Use use);

    // [pump]
    enum class Step { pending, done, failed };
    void start(Entry &entry) noexcept;
    Step step(bool stop) noexcept; // stop: cancelled, so end early; done once nothing is in flight
    const Error &error() const { return error_; }
    // What a waiter may block on: a queue and value in flight, kept alive by `device`.
    struct InFlight {
        std::shared_ptr<DeviceCore> device;
        hbf_queue *queue = nullptr;
        uint64_t value = 0;
    };
    InFlight in_flight() const noexcept;

    std::string staging() const { return bounce_.describe(); } // of the buffers: size, pinned or why not

private:
    enum class Phase { open, source_crc, transfer, readback, close };
    enum class Move { pending, done, failed };

    size_t forget_closed() noexcept;
    Auxiliary *find(const DeviceCore &device) noexcept;
    bool look() noexcept; // polls all; false: one failed
    Move send_direct() noexcept;
    Move stage(Op &op) noexcept;                        // staging.cpp
    Move read(const Op &op, bool destination) noexcept; // staging.cpp: checksums into crc, or compared with it
    Step drain(Step outcome) noexcept;
    bool check_pieces(const Op &op, const std::byte *bytes, uint64_t begin, uint64_t size, bool compare) noexcept;
    bool check_words(const Op &op, const uint32_t *words, uint64_t begin, uint64_t size, bool compare) noexcept;
    bool check_piece(const Op &op, uint64_t begin, uint64_t size, uint32_t found, bool compare) noexcept;
    void fail_with(Code code, std::string_view message, uint64_t offset, const std::string &place) noexcept;
    void fail_abi(const AbiError &abi, hbf_status status, const RegionSlot *place) noexcept;
    void begin_move() noexcept;

    QueueCore &owner_;
    Bounce bounce_;
    std::array<std::atomic<Auxiliary *>, 8> auxiliaries_{}; // one a device; append-only

    Entry *entry_ = nullptr;
    Phase phase_ = Phase::open;
    uint32_t begin_ = 0, end_ = 0, cursor_ = 0, sent_ = 0;
    bool failed_ = false;
    Error error_;

    // Of the copy that is being staged or read.
    struct Half {
        enum class State : uint8_t { empty, reading, writing } state = State::empty;
        uint64_t begin = 0, size = 0, value = 0;
    };
    bool read_half(Auxiliary &auxiliary, const Op &op, unsigned i, bool destination, const RegionSlot &region) noexcept;
    bool checksum_half(Auxiliary &auxiliary, const Op &op, unsigned i, bool destination, const RegionSlot &region) noexcept;
    bool send_half(Auxiliary &auxiliary, const Op &op, Half &half, const RegionSlot &region) noexcept;
    Half halves_[2];
    uint64_t next_ = 0, moved_ = 0; // bytes begun, bytes done
};

} // namespace hbf::fabric
