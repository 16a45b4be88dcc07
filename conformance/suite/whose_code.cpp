// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/whose_code.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include <link.h>
#include <unwind.h>

namespace hbf::conformance {
namespace {

// Code that was there, by address; static, for it is read inside malloc.
struct Range {
    uintptr_t begin, end;
    bool runtime; // the C or C++ library's
};
constexpr size_t most_ranges = 1024;
std::array<Range, most_ranges> ranges;
constinit std::atomic<size_t> range_count{0};

bool is_runtime(const char *file) {
    const char *const slash = std::strrchr(file, '/');
    const char *const name = slash ? slash + 1 : file;
    for (const char *prefix : {"libc.so", "libc-", "libstdc++.so", "libc++.so", "libc++abi.so", "libgcc_s.so", "ld-linux",
                               "libm.so", "libpthread.so", "libdl.so", "linux-vdso"})
        if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
    return false;
}

// Ranges of executable code of one object.
template <class Each>
void each_code(const dl_phdr_info &object, Each &&each) {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr) &segment = object.dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
        const uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
        each(begin, begin + segment.p_memsz);
    }
}

const Range *range_of(uintptr_t address) noexcept {
    const size_t count = range_count.load(std::memory_order_acquire);
    const auto end = ranges.begin() + static_cast<ptrdiff_t>(count);
    const auto after = std::upper_bound(ranges.begin(), end, address,
                                        [](uintptr_t value, const Range &range) { return value < range.begin; });
    if (after == ranges.begin()) return nullptr;
    const Range &candidate = *std::prev(after);
    return address < candidate.end ? &candidate : nullptr;
}

struct Walk {
    uintptr_t caller; // what lies inside of it is the asker's own
    bool begun = false, driver = false;
    unsigned frames = 0;
};

_Unwind_Reason_Code step(_Unwind_Context *context, void *data) {
    auto &walk = *static_cast<Walk *>(data);
    constexpr unsigned most_frames = 64;
    if (++walk.frames > most_frames) return _URC_END_OF_STACK;
    const uintptr_t address = _Unwind_GetIP(context);
    walk.begun |= address == walk.caller;
    if (!walk.begun) return _URC_NO_REASON;
    const Range *const range = range_of(address - 1);
    if (range && range->runtime) return _URC_NO_REASON;
    walk.driver = range == nullptr;
    return _URC_END_OF_STACK;
}

} // namespace

void no_driver_yet() noexcept {
    size_t count = 0;
    struct Take {
        static int object(dl_phdr_info *info, size_t, void *data) {
            auto &taken = *static_cast<size_t *>(data);
            const bool runtime = is_runtime(info->dlpi_name);
            each_code(*info, [&](uintptr_t begin, uintptr_t end) {
                if (taken < most_ranges) ranges[taken++] = {begin, end, runtime};
            });
            return 0;
        }
    };
    range_count.store(0, std::memory_order_release);
    dl_iterate_phdr(&Take::object, &count);
    std::sort(ranges.begin(), ranges.begin() + static_cast<ptrdiff_t>(count),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    range_count.store(count, std::memory_order_release);
}

bool called_by_driver(void *caller) noexcept {
    if (range_count.load(std::memory_order_acquire) == 0) return false;
    Walk walk{reinterpret_cast<uintptr_t>(caller)};
    const Range *const range = range_of(walk.caller - 1);
    if (!range) return true;
    if (!range->runtime) return false;
    _Unwind_Backtrace(&step, &walk);
    return walk.driver;
}

std::vector<std::string> drivers() {
    std::vector<std::string> found;
    if (range_count.load(std::memory_order_acquire) == 0) return found;
    struct Take {
        static int object(dl_phdr_info *info, size_t, void *data) {
            bool known = false;
            each_code(*info, [&](uintptr_t begin, uintptr_t) { known |= range_of(begin) != nullptr; });
            if (!known && info->dlpi_name[0]) static_cast<std::vector<std::string> *>(data)->emplace_back(info->dlpi_name);
            return 0;
        }
    };
    dl_iterate_phdr(&Take::object, &found);
    return found;
}

} // namespace hbf::conformance
