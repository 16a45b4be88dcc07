// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/library.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::opencl {
namespace {

template <class Function>
bool take(void *handle, const char *name, Function &out) {
    out = reinterpret_cast<Function>(::dlsym(handle, name));
    return out != nullptr;
}

Functions load() {
    // Global neither: what a vendor's library finds is its own affair. Never closed: drivers leave threads behind.
    void *const handle = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *const why = ::dlerror();
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("driver_absent: the OpenCL loader {} cannot be opened: {}; remedy: install it (Debian and "
                              "Ubuntu: ocl-icd-libopencl1) and the driver of your device",
                              library_name, why ? why : "no reason given"));
    }
    Functions table;
    std::string missing;
    int count = 0; // the first few are named: the remedy must not drown
#define HBF_OPENCL_TAKE(name)                                                                                               \
    if (!take(handle, "cl" #name, table.name) && ++count <= 3) missing += "cl" #name ", ";
    HBF_OPENCL_FUNCTIONS(HBF_OPENCL_TAKE)
#undef HBF_OPENCL_TAKE
    if (count > 0)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {} lacks functions of OpenCL 1.2: {}{} in all; remedy: a newer OpenCL loader",
                              library_name, missing, count));
#define HBF_OPENCL_TAKE(name) take(handle, "cl" #name, table.name);
    HBF_OPENCL_NEWER_FUNCTIONS(HBF_OPENCL_TAKE)
#undef HBF_OPENCL_TAKE
    return table;
}

} // namespace

const Functions &library() {
    // Not a destructed static: a process may exit while instances live.
    static std::mutex mutex;
    static std::atomic<const Functions *> loaded{nullptr};
    if (const Functions *const table = loaded.load(std::memory_order_acquire)) return *table;
    std::lock_guard lock(mutex);
    if (const Functions *const table = loaded.load(std::memory_order_acquire)) return *table;
    const auto *const table = new Functions(load());
    loaded.store(table, std::memory_order_release);
    return *table;
}

} // namespace hbf::opencl
