// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/aside.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "plugins/amd/on_device.hpp"

namespace hbf::amd {

Aside::Aside(int device) : device_(device) {
    const OnDevice here(device);
    check(here.code(), "hipSetDevice");
    // Non-blocking: else it waits for whatever the embedding program does on the default stream.
    check(library().hip.StreamCreateWithFlags(&stream_, flag::stream_non_blocking), "hipStreamCreateWithFlags");
}

// A stream ends when its work has ended: of a device that does none any more it stays.
Aside::~Aside() {
    if (stuck_) return;
    const OnDevice here(device_);
    (void)taken(library().hip.StreamDestroy(stream_));
}

void Aside::clear(std::byte *at, uint64_t size) {
    const std::lock_guard lock(mutex);
    const OnDevice here(device_);
    check(here.code(), "hipSetDevice");
    // Piece by piece: a device that is slow gets on, one that does nothing is known by its first piece.
    constexpr uint64_t piece = uint64_t{1} << 30;
    for (uint64_t done = 0; done < size; done += piece) {
        const uint64_t bytes = std::min(piece, size - done);
        check(library().hip.MemsetAsync(at + done, 0, bytes, stream_), fmt::format("hipMemsetAsync of {} new bytes", bytes));
        if (finish(patience)) continue;
        stuck_ = true;
        sdk::fail(HBF_DEVICE_LOST,
                  fmt::format("clearing new memory got no further in {} ms: HIP device {} answers, and does "
                              "no work; remedy: look at dmesg for amdgpu, then rocm-smi --gpureset, as root",
                              patience.count(), device_));
    }
}

bool Aside::finish(std::chrono::milliseconds limit) const {
    const auto until = std::chrono::steady_clock::now() + limit;
    for (;;) {
        const Code code = taken(library().hip.StreamQuery(stream_));
        if (code != code::not_ready) {
            check(code, "hipStreamQuery");
            return true;
        }
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

} // namespace hbf::amd
