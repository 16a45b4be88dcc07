// SPDX-License-Identifier: Apache-2.0
// One queue's path to storage: splits reads and writes into pieces, keeps the engine full, and answers for what came short.
#pragma once

#include <memory>
#include <vector>

#include "bounce.hpp"
#include "engine.hpp"
#include "file.hpp"
#include "pieces.hpp"
#include "ring.hpp"
#include "storage_tier.hpp"

namespace hbf::host {

class Channel : public StorageChannel {
public:
    // `depth` reads and writes at once; the engine's capacity bounds the pieces in flight.
    Channel(std::unique_ptr<Engine> engine, uint32_t depth, const IoCalls &calls, const PieceLimits &limits = {});
    ~Channel() override;

    bool has_room() const override { return !free_operations_.empty(); }
    void read(StorageFile &file, uint64_t offset, std::byte *dst, uint64_t size, uint64_t tag) override;
    void write(StorageFile &file, uint64_t offset, const std::byte *src, uint64_t size, uint64_t tag) override;
    void kick() override;
    size_t reap(std::span<IoResult> out, uint64_t timeout_ns) override;
    size_t in_flight() const override { return operations_.size() - free_operations_.size(); }

    Engine &engine() { return *engine_; }

private:
    struct Operation { // one read or write of the queue's
        File *file = nullptr;
        Transfer transfer;
        uint64_t tag = 0;
        uint64_t begun = 0;      // bytes handed to pieces
        uint32_t pieces_out = 0; // with the engine
        bool unsent = false;     // in unsent_
        bool failed = false;
        IoProblem problem; // the one at the lowest offset
    };
    struct Slot { // one piece with the engine
        uint32_t operation = 0;
        Piece piece;
        uint32_t bounce = BouncePool::none;
        uint32_t moved = 0; // bytes of the I/O done so far
        uint32_t retries = 0;
    };

    void begin(StorageFile &file, const Transfer &transfer, uint64_t tag);
    void pump();
    bool issue(uint32_t operation);
    void push(uint32_t slot);
    void completed(const IoDone &done);
    std::optional<IoProblem> short_of(Slot &slot, int32_t result);
    void finish_piece(uint32_t slot);
    void fail(Operation &operation, IoProblem &&problem);
    void settle(uint32_t operation);
    void collect(uint64_t timeout_ns);
    size_t hand_out(std::span<IoResult> out);

    const IoCalls calls_;
    const PieceLimits limits_;
    BouncePool bounces_;
    std::unique_ptr<Engine> engine_; // goes before the buffers it may have pinned
    uint32_t scratch_;               // the bounce that merges use
    std::vector<Operation> operations_;
    std::vector<Slot> slots_;
    std::vector<uint32_t> free_operations_, free_slots_;
    Ring<uint32_t> unsent_;   // operations with bytes to begin, first come first served
    Ring<uint32_t> finished_; // not yet reaped
    std::vector<IoDone> dones_;
};

} // namespace hbf::host
