// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/context.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "plugins/nvidia/errors.hpp"

namespace hbf::nvidia {

namespace {

constexpr int exclusive_process = 3; // CU_COMPUTEMODE

} // namespace

bool wait_for(const Driver &cuda, cuda::Stream stream, uint64_t limit_ns, cuda::Result &code) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::nanoseconds(limit_ns);
    while ((code = cuda.StreamQuery(stream)) == cuda::not_ready) {
        if (Clock::now() >= until) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
}

Context::Context(const Driver &driver, const DeviceFacts &of) : cuda(driver), facts(of) {
    // The words are made first: nothing that may fail stands between taking and keeping.
    const std::string who = fmt::format("device {} ({})", facts.ordinal, facts.name);
    const std::string retain = "cuDevicePrimaryCtxRetain of " + who, push = "cuCtxPushCurrent of " + who;
    const std::string create = "cuStreamCreate on " + who;
    const cuda::Result code = cuda.DevicePrimaryCtxRetain(&context, facts.device);
    if (code == cuda::device_unavailable && facts.compute_mode == exclusive_process)
        sdk::fail(HBF_BUSY,
                  fmt::format("device_busy: {}: {}; its compute mode is Exclusive_Process, and another process has "
                              "it; remedy: end that one, or nvidia-smi -c DEFAULT, as root",
                              retain, error_text(cuda, code)));
    check(cuda, code, retain);
    try {
        const Current current(*this);
        check(cuda, current.code(), push);
        check(cuda, cuda.StreamCreate(&aside_, cuda::stream_non_blocking), create);
    } catch (...) {
        (void)cuda.DevicePrimaryCtxRelease(facts.device);
        throw;
    }
}

// A driver ends a stream and a context when their work has ended: of a device that does none any more, they stay.
Context::~Context() {
    if (stuck_) return;
    {
        const Current current(*this);
        (void)cuda.StreamDestroy(aside_);
    }
    (void)cuda.DevicePrimaryCtxRelease(facts.device);
}

void Context::zero(uint64_t at, uint64_t bytes) {
    const std::lock_guard lock(aside_mutex_);
    const Current current(*this);
    // Piece by piece: a device that is slow, or shared by many, gets on; one that does nothing is known by its first piece.
    constexpr uint64_t piece = 64 << 20;
    for (uint64_t done = 0; done < bytes; done += piece) {
        check(cuda, cuda.MemsetD8Async(at + done, 0, std::min(piece, bytes - done), aside_),
              "cuMemsetD8Async of a new region");
        cuda::Result code = cuda::success;
        if (!wait_for(cuda, aside_, patience_ns, code)) {
            stuck_ = true;
            sdk::fail(HBF_DEVICE_LOST,
                      fmt::format("zeroing a new region got no further in {} s: {} answers, and does no work",
                                  patience_ns / 1'000'000'000, facts.name));
        }
        check(cuda, code, "zeroing a new region");
    }
}

bool Context::copy(uint64_t dst, uint64_t src, uint64_t bytes, uint64_t limit_ns) {
    const std::lock_guard lock(aside_mutex_);
    const Current current(*this);
    check(cuda, cuda.MemcpyAsync(dst, src, bytes, aside_), "cuMemcpyAsync");
    cuda::Result code = cuda::success;
    if (!wait_for(cuda, aside_, limit_ns, code)) {
        stuck_ = true;
        return false;
    }
    check(cuda, code, "a copy");
    return true;
}

uint64_t Context::free_bytes() const {
    const Current current(*this);
    size_t free = 0, total = 0;
    return cuda.MemGetInfo(&free, &total) == cuda::success ? free : 0;
}

} // namespace hbf::nvidia
