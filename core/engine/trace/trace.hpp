// SPDX-License-Identifier: Apache-2.0
// Where time and bytes went: spans of the engine's threads, kept while a Recording runs. Written as Chrome's trace events,
// which Perfetto (https://ui.perfetto.dev) reads, and summed up by name.
//
//     trace::Span span("load", bytes);   // until the end of the scope; one load and a branch while nothing records
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hbf/export.hpp"

namespace hbf::kv::trace {

struct Event {
    const char *name = nullptr;        // lives as long as the process
    uint64_t begin_ns = 0, end_ns = 0; // CLOCK_MONOTONIC
    uint64_t bytes = 0;
    uint32_t depth = 0; // spans of its thread around it
};

struct ByName {
    std::string name;
    uint64_t count = 0, bytes = 0;
    double seconds = 0;      // in it, what it calls too
    double self_seconds = 0; // without the spans inside it
};

// One at a time in a process. Starts with the constructor. Each thread keeps its first `most` spans; what comes after them
// is counted, and said.
class HBF_API Recording {
public:
    explicit Recording(size_t most_per_thread = 1 << 18);
    ~Recording();
    Recording(const Recording &) = delete;
    Recording &operator=(const Recording &) = delete;

    void stop();                         // waits for spans that are being kept; the results are for afterwards
    std::vector<ByName> summary() const; // most self time first
    std::string json() const;            // trace events
    uint64_t left_out() const;           // spans for which there was no room
    double seconds() const;              // it ran

private:
    friend class Span;
    struct Thread {
        uint32_t tid = 0;
        std::vector<Event> events; // of fixed room
        std::atomic<size_t> count{0};
        std::atomic<uint64_t> left_out{0};
        std::atomic<bool> busy{false};
        uint32_t depth = 0;
    };
    Thread *own(); // of this thread; nullptr: no memory

    const size_t most_;
    const uint64_t number_; // tells recordings of one address apart
    uint64_t begin_ns_ = 0, end_ns_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Thread>> threads_;
};

class Span {
public:
    explicit Span(const char *name, uint64_t bytes = 0) noexcept;
    ~Span() { end(); }
    Span(const Span &) = delete;
    Span &operator=(const Span &) = delete;
    void add(uint64_t bytes) noexcept { event_.bytes += bytes; }
    void end() noexcept;

private:
    Recording::Thread *thread_ = nullptr;
    Event event_;
};

} // namespace hbf::kv::trace
