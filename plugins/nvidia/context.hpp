// SPDX-License-Identifier: Apache-2.0
// A device's primary context, which the whole process shares, and a stream of our own on it.
#pragma once

#include <atomic>
#include <mutex>

#include "plugins/nvidia/facts.hpp"
#include "plugins/stream/left.hpp"

namespace hbf::nvidia {

class Context {
public:
    Context(const Driver &driver, const DeviceFacts &of); // throws
    ~Context();
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    // [any thread] Zeroes memory and waits for it. Throws.
    void zero(uint64_t at, uint64_t bytes);
    // [any thread] Copies, and waits until then; false: the limit passed (it still runs). Throws where the driver refuses.
    bool copy(uint64_t dst, uint64_t src, uint64_t bytes, uint64_t limit_ns);
    // Work that was waited for here did not end. It may go on one day: what it writes to is not to be given back.
    bool stuck() const noexcept { return stuck_; }
    void give_up() noexcept { stuck_ = true; } // the same of work on another stream
    uint64_t patience_ns = 30'000'000'000;     // how long zeroing is waited for, each 64 MiB of it
    // Bytes free on the device now; 0 if the driver does not say.
    uint64_t free_bytes() const;

    const Driver &cuda;
    const DeviceFacts facts;
    cuda::Context context = nullptr;

private:
    std::mutex aside_mutex_; // of the stream
    std::atomic<bool> stuck_{false};
    cuda::Stream aside_ = nullptr;
};

// Makes a context the calling thread's, and at the end what it had before.
class Current {
public:
    explicit Current(const Context &context) noexcept
        : context_(context), code_(context.cuda.CtxPushCurrent(context.context)) {}
    ~Current() {
        cuda::Context before = nullptr;
        if (code_ == cuda::success) (void)context_.cuda.CtxPopCurrent(&before);
    }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;
    cuda::Result code() const { return code_; }

private:
    const Context &context_;
    const cuda::Result code_;
};

using stream::leave;

// Asks until all on the stream is over; false: the limit passed. `code`: how it ended.
bool wait_for(const Driver &cuda, cuda::Stream stream, uint64_t limit_ns, cuda::Result &code);

} // namespace hbf::nvidia
