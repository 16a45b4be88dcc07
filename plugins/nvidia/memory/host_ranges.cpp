// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/memory/host_ranges.hpp"

#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "plugins/nvidia/errors.hpp"

namespace hbf::nvidia {
namespace {

struct Range {
    uint64_t end = 0, shares = 0;
    const Driver *cuda = nullptr;
    cuda::Context context = nullptr; // it was registered in this one, which is retained
    cuda::Device device = 0;
};
struct Ranges {
    std::mutex mutex;
    std::map<uint64_t, Range> by_begin;
};
// Never destroyed: a process may exit while instances live.
Ranges &ranges() {
    static Ranges *const one = new Ranges;
    return *one;
}

// The one that covers all of [begin, end).
std::map<uint64_t, Range>::iterator covering(std::map<uint64_t, Range> &all, uint64_t begin, uint64_t end) {
    for (auto at = all.upper_bound(begin); at != all.begin();) {
        --at;
        if (at->second.end >= end) return at;
    }
    return all.end();
}

uint64_t device_pointer(const Context &context, uint64_t host) {
    cuda::Pointer at = 0;
    check(context.cuda, context.cuda.MemHostGetDevicePointer(&at, reinterpret_cast<void *>(host), 0),
          "cuMemHostGetDevicePointer");
    return at;
}

} // namespace

HostRange::HostRange(const Context &context, void *address, uint64_t size) {
    const auto begin = reinterpret_cast<uint64_t>(address);
    const std::string what = fmt::format("registering {} bytes of the host's memory at {:#x}", size, begin);
    if (size > UINT64_MAX - begin) sdk::fail(HBF_INVALID, what + ": they leave the address space");
    Ranges &all = ranges();
    const std::lock_guard lock(all.mutex);
    const Current current(context);
    check(context.cuda, current.code(), what + ": cuCtxPushCurrent");
    if (const auto found = covering(all.by_begin, begin, begin + size); found != all.by_begin.end()) {
        on_device_ = device_pointer(context, begin);
        ++found->second.shares;
        begin_ = found->first;
        return;
    }
    const cuda::Result code = context.cuda.MemHostRegister(address, size, cuda::register_portable | cuda::register_mapped);
    if (code == cuda::host_already_registered) {
        cuda::Pointer first = 0, last = 0; // all of it, by somebody else?
        if (context.cuda.MemHostGetDevicePointer(&first, address, 0) == cuda::success &&
            context.cuda.MemHostGetDevicePointer(&last, static_cast<char *>(address) + size - 1, 0) == cuda::success &&
            last - first == size - 1) {
            on_device_ = first;
            return;
        }
        sdk::fail(HBF_BUSY, what + ": part of it is registered already, by a range of other bounds; register all of it at "
                                   "once, or end that one first");
    }
    if (code != cuda::success) // the words are made only now: nothing that may fail stands between taking and keeping
        sdk::fail(error_status(code), fmt::format("{}: cuMemHostRegister: {}", what, error_text(context.cuda, code)));
    try {
        on_device_ = device_pointer(context, begin);
        Range range{begin + size, 1, &context.cuda, nullptr, context.facts.device};
        check(context.cuda, context.cuda.DevicePrimaryCtxRetain(&range.context, range.device), "cuDevicePrimaryCtxRetain");
        try {
            all.by_begin.emplace(begin, range);
        } catch (...) {
            (void)context.cuda.DevicePrimaryCtxRelease(range.device);
            throw;
        }
    } catch (...) {
        (void)context.cuda.MemHostUnregister(address);
        throw;
    }
    begin_ = begin;
}

HostRange::~HostRange() {
    if (begin_ == 0) return;
    Ranges &all = ranges();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_begin.find(begin_);
    if (--found->second.shares > 0) return;
    const Range range = found->second;
    cuda::Context before = nullptr;
    const bool current = range.cuda->CtxPushCurrent(range.context) == cuda::success;
    (void)range.cuda->MemHostUnregister(reinterpret_cast<void *>(begin_));
    if (current) (void)range.cuda->CtxPopCurrent(&before);
    (void)range.cuda->DevicePrimaryCtxRelease(range.device);
    all.by_begin.erase(found);
}

} // namespace hbf::nvidia
