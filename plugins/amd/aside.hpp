// SPDX-License-Identifier: Apache-2.0
// A stream for what stands beside queues: clearing new memory, probing peers. Everything on it is waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>

#include "plugins/amd/library.hpp"

namespace hbf::amd {

class Aside {
public:
    explicit Aside(int device); // throws
    ~Aside();
    Aside(const Aside &) = delete;
    Aside &operator=(const Aside &) = delete;

    // Throws; DEVICE_LOST where it got no further for `patience`: then the device may write there yet.
    void clear(std::byte *at, uint64_t size);
    bool stuck() const { return stuck_; }      // it did not end: what it writes to stays
    std::chrono::milliseconds patience{30000}; // for each GiB

    // One thread at a time. finish() throws sdk::Failure where what was put on the stream failed; false: it was not over in
    // time, and what it uses must stay.
    std::mutex mutex;
    Stream stream() const { return stream_; }
    bool finish(std::chrono::milliseconds limit) const;
    int device() const { return device_; }

private:
    int device_;
    Stream stream_ = nullptr;
    std::atomic<bool> stuck_{false};
};

} // namespace hbf::amd
