// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/queue/hip_stream.hpp"

#include <algorithm>

#include "plugins/amd/on_device.hpp"

namespace hbf::amd {
namespace {

// What this thread had as its current device before each enter() that has not seen its leave().
struct Before {
    static constexpr unsigned most = 8;
    int device[most];
    unsigned depth = 0;
};
thread_local Before before;

void *pointer(uint64_t at) {
    return reinterpret_cast<void *>(at);
}

// Copies name memory of the host by the host's own address.
void *for_copy(uint64_t at, const stream::Region *region) {
    return region->host ? region->host + (at - region->at) : pointer(at);
}

stream::Answer answer(Code code) noexcept {
    (void)taken(code);
    return {code != code::not_ready, code == code::not_ready ? code::success : code};
}

} // namespace

HipStream::HipStream(int device) : hip_(library().hip), device_(device) {
    const OnDevice here(device);
    check(here.code(), "hipSetDevice");
    // Non-blocking: else it waits for whatever the embedding program does on the default stream, which waits for it.
    check(hip_.StreamCreateWithFlags(&stream_, flag::stream_non_blocking), "hipStreamCreateWithFlags");
}

HipStream::~HipStream() {
    const OnDevice here(device_);
    (void)taken(hip_.StreamDestroy(stream_));
}

void HipStream::enter() noexcept {
    int now = device_;
    (void)taken(hip_.GetDevice(&now));
    if (before.depth < Before::most) before.device[before.depth] = now;
    ++before.depth;
    if (now != device_) (void)taken(hip_.SetDevice(device_)); // where it fails, so does what follows
}

void HipStream::leave() noexcept {
    --before.depth;
    if (before.depth < Before::most && before.device[before.depth] != device_)
        (void)taken(hip_.SetDevice(before.device[before.depth]));
}

stream::Event HipStream::make_event() {
    HipEvent event = nullptr;
    // A release to the system: without it what was written to memory of the host may stay in the device's caches when the
    // event is over (HIP: hipEventReleaseToSystem).
    check(hip_.EventCreateWithFlags(&event, flag::event_disable_timing | flag::event_release_to_system),
          "hipEventCreateWithFlags");
    return event;
}

void HipStream::destroy_event(stream::Event event) noexcept {
    (void)taken(hip_.EventDestroy(static_cast<HipEvent>(event)));
}

// hipMemcpyDefault: a direction is an assertion, and one that is wrong moves wrong bytes without an error.
int HipStream::copy(const stream::Copy *copies, uint32_t count) noexcept {
    for (uint32_t i = 0; i < count; ++i) {
        const stream::Copy &one = copies[i];
        const Code code = taken(hip_.MemcpyAsync(for_copy(one.dst, one.to), for_copy(one.src, one.from), one.size,
                                                 flag::memcpy_default, stream_));
        if (code != code::success) return code;
    }
    return code::success;
}

int HipStream::fill(const stream::Fill &fill) noexcept {
    void *const at = pointer(fill.dst);
    switch (fill.width) {
    case 1:
        return taken(hip_.MemsetAsync(at, static_cast<int>(fill.value & 0xff), fill.count, stream_));
    case 2:
        return taken(hip_.MemsetD16Async(at, static_cast<unsigned short>(fill.value), fill.count, stream_));
    case 4:
        return taken(hip_.MemsetD32Async(at, static_cast<int>(static_cast<uint32_t>(fill.value)), fill.count, stream_));
    default:
        return fill_wide(fill);
    }
}

// HIP fills with at most 4 bytes. So the first element is made of two halves, and what is there already is copied behind
// itself until all is there. The stream is in order.
int HipStream::fill_wide(const stream::Fill &fill) noexcept {
    auto *const at = static_cast<std::byte *>(pointer(fill.dst));
    auto *const to = static_cast<std::byte *>(for_copy(fill.dst, fill.to));
    Code code = taken(hip_.MemsetD32Async(at, static_cast<int>(static_cast<uint32_t>(fill.value)), 1, stream_));
    if (code == code::success)
        code = taken(hip_.MemsetD32Async(at + 4, static_cast<int>(static_cast<uint32_t>(fill.value >> 32)), 1, stream_));
    const uint64_t size = 8 * fill.count;
    for (uint64_t done = 8; done < size && code == code::success;) {
        const uint64_t piece = std::min(done, size - done);
        code = taken(hip_.MemcpyAsync(to + done, to, piece, flag::memcpy_default, stream_));
        done += piece;
    }
    return code;
}

int HipStream::launch(const stream::Launch &launch) noexcept {
    const uint32_t *const groups = launch.groups, *const items = launch.group_size;
    return taken(hip_.ModuleLaunchKernel(static_cast<Function>(launch.function), groups[0], groups[1], groups[2], items[0],
                                         items[1], items[2], 0, stream_, launch.parameters, nullptr));
}

int HipStream::record(stream::Event event) noexcept {
    return taken(hip_.EventRecord(static_cast<HipEvent>(event), stream_));
}

int HipStream::wait(stream::Event event) noexcept {
    return taken(hip_.StreamWaitEvent(stream_, static_cast<HipEvent>(event), 0));
}

stream::Answer HipStream::query(stream::Event event) noexcept {
    return answer(hip_.EventQuery(static_cast<HipEvent>(event)));
}

stream::Answer HipStream::query_all() noexcept {
    return answer(hip_.StreamQuery(stream_));
}

void HipStream::finish() noexcept {
    (void)taken(hip_.StreamSynchronize(stream_));
}

sdk::Failure HipStream::explain(int code, bool ran) const {
    return {error_status(code, ran), error_text(code)};
}

} // namespace hbf::amd
