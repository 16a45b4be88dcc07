// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/aside.hpp"

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

Aside::~Aside() {
    const OnDevice here(device_);
    (void)taken(library().hip.StreamDestroy(stream_));
}

void Aside::clear(std::byte *at, uint64_t size) {
    const std::lock_guard lock(mutex);
    const OnDevice here(device_);
    check(here.code(), "hipSetDevice");
    check(library().hip.MemsetAsync(at, 0, size, stream_), fmt::format("hipMemsetAsync of {} new bytes", size));
    check(library().hip.StreamSynchronize(stream_), "hipStreamSynchronize of new memory");
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
