// SPDX-License-Identifier: Apache-2.0
// What one stream moves between memory and the file, in the stream's order. cuFile tells how each move ended beside the
// stream's events, so the moves of a batch are kept with its event until it is asked.
#pragma once

#include <deque>
#include <unordered_map>

#include "plugins/nvidia/memory/blocks.hpp"
#include "plugins/nvidia/storage/file_store.hpp"
#include "plugins/stream/stream_api.hpp"

namespace hbf::nvidia {

class FileLane {
public:
    FileLane(const Context &context, FileStore &store); // throws: it has some of the device's memory

    // [one thread at a time] As StreamApi's; a code of the driver's, or one of those that ours() knows. Neither throws.
    int copy(const stream::Copy &copy, cuda::Stream stream) noexcept;
    int fill(const stream::Fill &fill, cuda::Stream stream) noexcept;
    void add(cuda::Event event) { batches_[event] = nullptr; } // before the first record
    void remove(cuda::Event event) noexcept { batches_.erase(event); }
    void record(cuda::Event event) noexcept; // what was put since is this event's

    // [any thread] Once the event is over: how its moves ended, 0 if well.
    int outcome(cuda::Event event) const noexcept { return worst(batches_.at(event)); }

    static bool ours(int code) noexcept { return code >= first_code; }
    static sdk::Failure explain(int code);

private:
    static constexpr int first_code = 1'000'000, short_move = first_code, refused = first_code + 1,
                         system_error = first_code + 2, library_error = first_code + 10'000;
    struct Move {
        size_t size = 0;
        off_t in_file = 0, in_memory = 0;
        ssize_t done = 0;
        Move *next = nullptr; // of its list
    };
    static int worst(const Move *moves) noexcept;
    int put(cufile::Move how, uint64_t in_file, uint64_t memory, uint64_t size, cuda::Stream stream) noexcept;

    const Driver &cuda_;
    FileStore &store_;
    const PlainBlock bounce_; // for what has the file on both sides, or is made of a pattern: in the stream's order too
    std::deque<Move> all_;    // lists, so that a warm queue takes no memory
    Move *free_ = nullptr, *pending_ = nullptr;
    std::unordered_map<cuda::Event, Move *> batches_; // its keys stay while the queue lives
};

} // namespace hbf::nvidia
