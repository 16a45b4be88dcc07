// SPDX-License-Identifier: Apache-2.0
// The way to the kernel: positioned reads and writes, several at once. io_uring or a few threads with pread and pwrite;
// tests put their own between to bring about what a healthy disk never shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace hbf::host {

struct IoRequest {
    int fd = -1;
    bool write = false;
    uint64_t offset = 0; // in the file
    std::byte *data = nullptr;
    uint32_t size = 0; // bytes
    uint32_t id = 0;   // below capacity(), one request at a time
};

struct IoDone {
    uint32_t id = 0;
    int32_t result = 0; // bytes moved, which may be fewer than asked, or a negative errno
};

// [one thread at a time], except for the buffer calls.
class Engine {
public:
    virtual ~Engine() = default;                     // nothing in flight any more
    virtual uint32_t capacity() const = 0;           // requests at once
    virtual void push(const IoRequest &request) = 0; // at most capacity() unreaped
    virtual void flush() = 0;                        // the kernel has all that was pushed
    // Flushes. Blocks up to timeout_ns for the first, 0: never; may return none early.
    virtual size_t reap(std::span<IoDone> out, uint64_t timeout_ns) = 0;

    // [any thread] Memory the kernel may keep pinned; returns how many of the first bytes it took.
    virtual uint64_t add_buffer(std::byte *, uint64_t) { return 0; }
    virtual void remove_buffer(std::byte *) noexcept {}
};

using EngineFactory = std::function<std::unique_ptr<Engine>(uint32_t capacity)>;

} // namespace hbf::host
