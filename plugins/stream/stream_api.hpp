// SPDX-License-Identifier: Apache-2.0
// One in-order stream of a vendor's runtime and its events, as the shared queue (queue.hpp) uses them. A plugin implements
// it over CUDA, HIP, CNRT, ...; one object serves one queue.
//
// Codes are the runtime's own, 0 is success. Addresses are Region::at plus an offset: the runtime is expected to know from
// an address what lies there, so no call says a direction (whoever says one wrongly gets wrong bytes, and no error).
#pragma once

#include <cstdint>

#include "hbf/abi/command.h"
#include "hbf/sdk/failure.hpp"
#include "plugins/stream/region.hpp"

namespace hbf::stream {

// The runtime's event, by pointer: CUevent, hipEvent_t, cnrtNotifier_t.
using Event = void *;

struct Copy {
    uint64_t dst, src, size;
    const Region *to, *from;
};

struct Fill {
    uint64_t dst;   // a multiple of `width`
    uint64_t count; // elements
    uint64_t value; // the low `width` bytes
    uint32_t width; // 1, 2, 4 or 8 bytes
    const Region *to;
};

struct Launch {
    void *function;             // KernelLoader::load gave it
    const uint32_t *groups;     // [3]
    const uint32_t *group_size; // [3]
    void **parameters;          // a pointer to each: address, offset, ... of the buffers, then the arguments
    uint32_t parameter_count;
    uint64_t arguments_size;          // bytes of the last one
    const hbf_kernel_buffer *buffers; // [(parameter_count - 1) / 2], for whoever gives the runtime hints
};

struct Answer {
    bool over = false; // false: it runs still, `code` means nothing
    int code = 0;      // how it ended
};

// [one thread at a time, but for the calls that say otherwise] Nothing here throws, allocates (once warmed) or blocks until
// the device is done, except finish().
class StreamApi {
public:
    virtual ~StreamApi() = default; // nothing runs on the stream any more, or the device is lost

    // [any thread] What the runtime wants of a calling thread, a current context or device, and its end. The calls below
    // stand between the two, but for queries and explain(); they nest. The destructor looks after itself.
    virtual void enter() noexcept {}
    virtual void leave() noexcept {}

    // Before the queue's first batch, and at its end. make_event throws sdk::Failure.
    virtual Event make_event() = 0;
    virtual void destroy_event(Event event) noexcept = 0;

    // Puts work at the stream's end. Where one fails, nothing of it has begun, or what has begun is ordered before the next
    // record(). Copies of one call are unordered among themselves, and do not overlap.
    virtual int copy(const Copy *copies, uint32_t count) noexcept = 0;
    virtual int fill(const Fill &fill) noexcept = 0;
    virtual int launch(const Launch &launch) noexcept = 0;
    // Flush and invalidate: nothing where caches agree by themselves.
    virtual int write_back(const Region &, uint64_t /*offset*/, uint64_t /*size*/) noexcept { return 0; }
    virtual int invalidate(const Region &, uint64_t /*offset*/, uint64_t /*size*/) noexcept { return 0; }
    // Copies and fills that follow in the same batch must not overtake what precedes. Streams are in order anyway: nothing.
    virtual int barrier() noexcept { return 0; }
    // The event is recorded after all of it. One that was recorded before starts anew.
    virtual int record(Event event) noexcept = 0;
    // What follows waits for what `event`, of another stream of the same device, was last recorded after. A later record of
    // it changes nothing.
    virtual int wait(Event event) noexcept = 0;
    // Once a batch, after record(): hands over what the runtime still holds back.
    virtual int flush() noexcept { return 0; }

    // [any thread, also beside the calls above] How far the work before the last record of `event` is. An error of that work
    // shows here: a runtime whose events do not carry errors asks elsewhere too, before it says that all is well.
    virtual Answer query(Event event) noexcept = 0;
    // [any thread] The same for everything on the stream, for a batch whose record() was refused.
    virtual Answer query_all() noexcept = 0;
    virtual void finish() noexcept = 0; // blocks until nothing runs, or the device is lost

    // What a code means: status and words ("CUDA_ERROR_ECC_UNCORRECTABLE (214)"). `ran`: of work that had been taken.
    virtual sdk::Failure explain(int code, bool ran) const = 0;
};

// The two calls around others.
class Entered {
public:
    explicit Entered(StreamApi &api) noexcept : api_(api) { api_.enter(); }
    ~Entered() { api_.leave(); }
    Entered(const Entered &) = delete;
    Entered &operator=(const Entered &) = delete;

private:
    StreamApi &api_;
};

} // namespace hbf::stream
