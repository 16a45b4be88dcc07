// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/library.hpp"

#include <atomic>
#include <mutex>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/level_zero/functions.hpp"

namespace hbf::level_zero {
namespace {

template <class Function>
bool take(void *handle, const char *name, Function &out) {
    out = reinterpret_cast<Function>(::dlsym(handle, name));
    return out != nullptr;
}

} // namespace

Functions load_library(const char *file) {
    void *const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *const why = ::dlerror();
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("driver_absent: the Level Zero loader {} cannot be opened: {}; remedy: install it (Debian: "
                              "libze1, Ubuntu: level-zero) and Intel's driver (intel-level-zero-gpu)",
                              file, why ? why : "no reason given"));
    }
    Functions table;
    std::string missing;
    int count = 0; // the first few are named: the remedy must not drown
#define HBF_ZE_TAKE(name)                                                                                                   \
    if (!take(handle, #name, table.name) && ++count <= 3) missing += #name ", ";
    HBF_ZE_REQUIRED(HBF_ZE_TAKE)
#undef HBF_ZE_TAKE
    if (count > 0)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {} lacks functions of Level Zero 1.0: {}{} in all; remedy: a "
                              "newer loader",
                              file, missing, count));
#define HBF_ZE_TAKE(name) take(handle, #name, table.name);
    HBF_ZE_OPTIONAL(HBF_ZE_TAKE)
#undef HBF_ZE_TAKE
    return table;
}

const Functions &library() {
    // Not a destructed static: a process may exit while instances live.
    static std::mutex mutex;
    static std::atomic<const Functions *> loaded{nullptr};
    if (const Functions *const table = loaded.load(std::memory_order_acquire)) return *table;
    const std::lock_guard lock(mutex);
    if (const Functions *const table = loaded.load(std::memory_order_acquire)) return *table;
    const auto *const table = new Functions(load_library(library_name));
    loaded.store(table, std::memory_order_release);
    return *table;
}

} // namespace hbf::level_zero
