// SPDX-License-Identifier: Apache-2.0
// What the loader looks up in a driver: a function for each table (ze_ddi.h), which writes the driver's functions into it.
#include <iterator>
#include <string_view>
#include <utility>

#include "conformance/emulators/calls/calls.hpp"
#include "conformance/emulators/level_zero/functions.hpp"

namespace hbf::emulated::l0 {
namespace {

enum class Has : size_t {
#define TABLE(name)
#define HAS(name) name,
#define LACKS(name)
#define END
#include "conformance/emulators/level_zero/tables.inc"
#undef HAS
#undef LACKS
    count
};
enum class Lacks : size_t {
    before = static_cast<size_t>(Has::count) - 1,
#define HAS(name)
#define LACKS(name) name,
#include "conformance/emulators/level_zero/tables.inc"
#undef HAS
#undef LACKS
};
constexpr const char *names[] = {
#define HAS(name) #name,
#define LACKS(name)
#include "conformance/emulators/level_zero/tables.inc"
#undef HAS
#undef LACKS
#define HAS(name)
#define LACKS(name) #name,
#include "conformance/emulators/level_zero/tables.inc"
#undef HAS
#undef LACKS
#undef TABLE
#undef END
};

Calls counter("libze_intel_gpu.so.1", names, static_cast<size_t>(Has::count));

template <size_t number, auto function>
struct Counted;
template <size_t number, class... Arguments, Result (*function)(Arguments...)>
struct Counted<number, function> {
    static Result call(Arguments... arguments) {
        counter.count(number);
        return function(arguments...);
    }
};

// Whatever it is called with: an ABI in which the caller clears the arguments away.
template <size_t number>
Result lacking() {
    counter.count(number);
    return ze::unsupported_feature;
}

constexpr uint32_t oldest = 0x10004; // the tables are those of 1.4; an older loader's would be too short

Result may_fill(uint32_t version, const void *table) {
    if (!table) return ze::invalid_null_pointer;
    return version >> 16 != oldest >> 16 || version < oldest ? ze::unsupported_version : ze::success;
}

// Does nothing, and says that it was done: what the loader's own null driver does (ZE_ENABLE_NULL_DRIVER).
template <size_t number>
Result nothing() {
    counter.count(number);
    return ze::success;
}

// Under the fault stub-library; but for what says that there is a driver with a device.
bool stubbed(std::string_view name) {
    constexpr std::string_view answered[] = {"zeInit", "zeDriverGet", "zeDriverGetApiVersion", "zeDeviceGet",
                                             "zeDeviceGetProperties"};
    return model::machine() && model::machine()->faults().on(model::Fault::stub_library, -1) &&
           std::find(std::begin(answered), std::end(answered), name) == std::end(answered);
}

template <size_t number, auto function>
void *entry(const char *name) {
    if (stubbed(name)) return reinterpret_cast<void *>(&nothing<number>);
    return reinterpret_cast<void *>(&Counted<number, function>::call);
}

bool missing(const char *name) {
    return std::strcmp(name, "zeCommandListAppendBarrier") == 0 && model::machine() &&
           model::machine()->faults().on(model::Fault::missing_symbol, -1);
}

} // namespace
} // namespace hbf::emulated::l0

#define TABLE(name)                                                                                                         \
    extern "C" __attribute__((visibility("default"))) hbf::level_zero::ze::Result name(uint32_t version, void **table) {    \
        using namespace hbf::emulated::l0;                                                                                  \
        if (const Result code = may_fill(version, table); code != ze::success) return code;
#define HAS(name) *table++ = missing(#name) ? nullptr : entry<static_cast<size_t>(Has::name), &::name>(#name);
#define LACKS(name) *table++ = reinterpret_cast<void *>(&lacking<static_cast<size_t>(Lacks::name)>);
#define END                                                                                                                 \
    return ze::success;                                                                                                     \
    }
#include "conformance/emulators/level_zero/tables.inc"
