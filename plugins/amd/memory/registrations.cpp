// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/memory/registrations.hpp"

#include <list>
#include <mutex>

#include <fmt/format.h>

#include "plugins/amd/errors.hpp"
#include "plugins/amd/library.hpp"

namespace hbf::amd {
namespace {

struct Range {
    uintptr_t begin, end;
    uint64_t users;
    bool ours; // else the runtime knew it before: somebody else registered it, or it came from hipHostMalloc

    bool holds(uintptr_t from, uintptr_t to) const { return begin <= from && to <= end; }
};
struct Ranges {
    std::mutex mutex;
    std::list<Range> all; // few
};
// Never destroyed: a process may exit while instances live.
Ranges &ranges() {
    static Ranges *const one = new Ranges;
    return *one;
}

bool known_to_runtime(const Hip &hip, uintptr_t at) {
    void *out = nullptr;
    return taken(hip.HostGetDevicePointer(&out, reinterpret_cast<void *>(at), 0)) == code::success;
}

} // namespace

void register_range(void *address, uint64_t size) {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    Ranges &known = ranges();
    const std::lock_guard lock(known.mutex);
    for (Range &range : known.all)
        if (range.holds(begin, begin + size)) {
            ++range.users;
            return;
        }
    const Hip &hip = library().hip;
    known.all.push_back({begin, begin + size, 1, true});
    const Code code = taken(hip.HostRegister(address, size, flag::register_portable | flag::register_mapped));
    if (code == code::success) return;
    if (code == code::already_registered && known_to_runtime(hip, begin) && known_to_runtime(hip, begin + size - 1)) {
        known.all.back().ours = false;
        return;
    }
    known.all.pop_back();
    const std::string what = fmt::format("hipHostRegister of {} bytes: {}", size, error_text(code));
    if (code == code::already_registered)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("{}: a part of them is registered already; remedy: register the whole once", what));
    sdk::fail(error_status(code), what);
}

void unregister_range(void *address, uint64_t size) noexcept {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    Ranges &known = ranges();
    const std::lock_guard lock(known.mutex);
    for (auto range = known.all.begin(); range != known.all.end(); ++range) {
        if (!range->holds(begin, begin + size)) continue;
        if (--range->users > 0) return;
        if (range->ours) (void)taken(library().hip.HostUnregister(reinterpret_cast<void *>(range->begin)));
        known.all.erase(range);
        return;
    }
}

} // namespace hbf::amd
